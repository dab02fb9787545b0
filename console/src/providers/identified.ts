/** Who somebody is, as a provider says after everything that it sent was verified. */
import { flattenClaims, type RawClaims, verifiedEmail } from '../../../src/sign-in/claims.ts'
import type { Person } from '../../../src/sign-in/types.ts'
import { ProviderError } from './provider-error.ts'

const MAX_NAME_LENGTH = 200
/** The limit of OpenID Connect. */
const MAX_SUBJECT_LENGTH = 255

export interface Identified {
  readonly person: Person
  /** The URL of the person's picture, as the provider has it. */
  readonly picture: string | null
}

/** @param claims with the names of OpenID Connect. */
export function identifiedBy(claims: RawClaims & { readonly iss: string; readonly sub: string }): Identified {
  const { iss, sub, picture } = claims
  if (!isText(sub)) throw new ProviderError('provider_invalid', 'Its ID of the person (sub) is empty.')
  if (sub.length > MAX_SUBJECT_LENGTH) {
    throw new ProviderError(
      'provider_invalid',
      `Its ID of the person (sub) has more than ${MAX_SUBJECT_LENGTH} characters.`,
    )
  }
  return {
    person: {
      issuer: iss,
      subject: sub,
      claims: flattenClaims(claims),
      email: verifiedEmail(claims),
      name: nameOf(claims),
    },
    picture: isText(picture) ? picture : null,
  }
}

function nameOf({ name, given_name: given, family_name: family, preferred_username: username }: RawClaims) {
  const parts = [given, family].filter(isText).join(' ')
  return [name, parts, username].find(isText)?.slice(0, MAX_NAME_LENGTH) ?? null
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
