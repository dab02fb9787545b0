/** What the console Worker and the API Worker tell each other when a person signs in. */

/** A person as an identity provider vouches for them, after everything that it sent was verified. */
export interface Person {
  readonly issuer: string
  readonly subject: string
  /**
   * Every claim with each of its values as text: lists are taken apart, and an inner field has the path `outer.inner`.
   * `email` is there only if the provider verified it.
   */
  readonly claims: readonly (readonly [claim: string, value: string])[]
  /** The verified e-mail address, in lower case. */
  readonly email: string | null
  readonly name: string | null
}

/** Why a person does not get in. */
export type Refusal =
  /** There is no such organization, or it is suspended or moves at this moment. */
  | 'organization_unavailable'
  /** No rule and no invitation admits the person. */
  | 'not_admitted'
  | 'blocked'
  /** The organization has the maximum number of users. */
  | 'user_quota'

export type SignInResult =
  | {
      readonly token: string
      readonly expiresAt: string
      readonly userId: string
      readonly scopes: readonly string[]
      /** True if the sign-in created the user. */
      readonly isFirst: boolean
    }
  | { readonly refusal: Refusal }

/** An app that a person connects, and what they allow it. */
export interface App {
  readonly clientId: string
  readonly clientName: string
  /** The host that the person is sent back to. */
  readonly redirectHost: string
  /** What it may do (access/bundles.ts), as far as the person may. Null: all that the person may. */
  readonly bundles: readonly string[] | null
  /** Null: all projects of the person. */
  readonly projectIds: readonly string[] | null
  readonly days: number
  /** What only the decision of the person has: it connects the app once. Null: nothing has to. */
  readonly consent: string | null
  /** The address of the person, by which refused keys are counted. */
  readonly address: string
}

/** An error of the API. */
export interface Refused {
  readonly error: string
  readonly status: number
  readonly code: string
}

export type ConnectedApp = { readonly id: string; readonly token: string; readonly endsAt: string } | Refused

/** The key of an app is live. */
export interface Exchange {
  /** True if the code of the app was not exchanged before. */
  readonly isFirst: boolean
}

/** The entrypoint `SignIn` of the API Worker, which only a service binding reaches. */
export interface SignInService {
  /** Everything that a sign-in writes is one batch. @throws if the database does not answer. */
  signIn(organizationId: string, person: Person): Promise<SignInResult>
  /** Makes the key of an app, which may outlive the session. No operation does. @throws if the database does not answer. */
  connectApp(sessionToken: string, app: App): Promise<ConnectedApp>
  /**
   * An app exchanges its code, or a refresh token, for what its key allows: asks whether the key is live, and marks the
   * code as used, in one round trip.
   * @throws if the database does not answer.
   */
  exchange(apiKey: string, address: string): Promise<Exchange | Refused>
  /** The first exchange failed afterwards, so the app may try again. */
  undoExchange(apiKey: string, address: string): Promise<void>
}
