import { problemOfReceiver } from '../../../src/webhooks/receiver-url.ts'

/** With the prefix of the library, a key of KV has at most 512 bytes. */
const CLIENT_ID = /^[!-~]{0,500}$/

/**
 * @returns what is wrong with the ID of an app. If it is a URL, the library fetches the metadata of the app from there,
 *   and logs the ID if it cannot.
 */
export function problemOfClient(clientId: string): string | undefined {
  if (!CLIENT_ID.test(clientId)) {
    return 'client_id is too long or has a space or a control character; allowed: up to 500 visible ASCII characters.'
  }
  if (!URL.canParse(clientId) || !/^https?:$/.test(new URL(clientId).protocol)) return undefined
  const problem = problemOfReceiver(clientId, false, 'https://app.example.com/client.json')
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
