/** Why somebody is not signed in. The page of a failed sign-in contains it as JSON. */
import type { Refusal } from '../../../src/sign-in/types.ts'
import type { Provider } from './providers.ts'

export interface SignInProblem {
  readonly reason: keyof typeof PROBLEM_STATUS
  /** What the button of the provider says. */
  readonly provider: string | null
  readonly providerType: Provider['type'] | null
  readonly organization: string | null
  readonly to: string | null
  /** What the provider or the settings say. */
  readonly detail: string | null
  /** The claims of a person whom no rule admits; the first ones, if there are many. */
  readonly claims: readonly (readonly [claim: string, value: string])[]
}

/** Each reason, with the status of its page. */
export const PROBLEM_STATUS = {
  not_admitted: 403,
  blocked: 403,
  organization_unavailable: 403,
  user_quota: 403,
  /** The cookie is missing or too old, or belongs to another sign-in. */
  expired: 400,
  no_organization: 400,
  unknown_provider: 404,
  /** The requests of this address. */
  too_many_requests: 429,
  /** The provider says no. */
  provider_refused: 403,
  /** The provider does not answer. */
  provider_unavailable: 502,
  /** What the provider sent is wrong. */
  provider_invalid: 502,
  /** The API does not answer. */
  unavailable: 503,
} as const satisfies Readonly<Record<Refusal, 403>> & Readonly<Record<string, number>>

/** The ID of the element with the JSON. */
export const PROBLEM_ELEMENT = 'sign-in-problem'
