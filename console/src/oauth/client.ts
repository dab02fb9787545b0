import { problemOfReceiver } from '../../../src/webhooks/receiver-url.ts'

/** @returns what is wrong with the ID of an app that is the URL of its metadata, which the Worker would fetch. */
export function problemOfClient(clientId: string): string | undefined {
  if (!/^https?:/i.test(clientId)) return undefined
  const problem = problemOfReceiver(clientId, false)
  return problem && `client_id ${problem.wrong}; allowed: ${problem.allowed}.`
}

/**
 * The IDs that a request for tokens has: in its form, in `Authorization: Basic`, or as the issuer of an assertion.
 * @throws if one cannot be read.
 */
export function readClientIds(authorization: string, form: FormData): string[] {
  const [, credentials] = /^basic[ \t]+(.*)$/i.exec(authorization) ?? []
  const [encodedId = ''] = credentials === undefined ? [] : atob(credentials).split(':')
  const ids = [...form.getAll('client_id'), decodeURIComponent(encodedId.replaceAll('+', ' '))]
  const issuers = form.getAll('client_assertion').map((assertion) => readIssuer(String(assertion)))
  return [...ids, ...issuers].map(String)
}

function readIssuer(assertion: string): unknown {
  const [, claims = ''] = assertion.split('.')
  const bytes = Uint8Array.from(atob(claims.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes)).iss
}
