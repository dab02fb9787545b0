/** A key that a person allows in the browser: an authorization code with PKCE, from the console of the service. */
import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { printable } from '../../client/src/printable.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { serviceUrl, validApiKey } from './configuration.ts'
import { hasBrowser, listenForCode, openBrowser } from './loopback.ts'
import { readLine } from './prompt.ts'
import { send } from './service.ts'

const FOUND = 302
const MAX_MACHINE_LENGTH = 64
const RANDOM_BYTES = 32

/** @returns undefined if the service has no console. */
export async function findConsole(url: string): Promise<string | undefined> {
  const { status, headers, body } = await send(new Request(`${url}/console`, { redirect: 'manual' }), url)
  await body?.cancel()
  const location = headers.get('Location')
  return status === FOUND && location !== null ? consoleUrl(location, 'The console of the service') : undefined
}

/** @param name of the setting. @throws unless it is an https address, or one of this computer. */
export function consoleUrl(address: string, name: string): string {
  const { origin, protocol, hostname: host } = new URL(serviceUrl(address, name))
  if (protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(host)) return origin
  throw new UsageError(`${name} is not an https address; got "${origin}"; example: https://console.example.com.`)
}

interface BrowserLogin {
  /** The service, which the key is for. */
  readonly url: string
  readonly consoleUrl: string
  /** False: the person opens the address elsewhere and pastes the code. */
  readonly opensBrowser: boolean
}

/** @returns the API key. @throws if the person denies it. */
export async function logInByBrowser({ url, consoleUrl, opensBrowser }: BrowserLogin): Promise<string> {
  const [verifier, state] = [newSecret(), newSecret()]
  const request = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    state,
    machine: machineName(),
    resource: url,
  }
  const addressOf = (more = {}) => `${consoleUrl}/login?${new URLSearchParams({ ...request, ...more })}`
  const code =
    opensBrowser && hasBrowser() ? await receiveCode(state, addressOf) : (await pasteCode(addressOf())).trim()
  if (!code) throw new UsageError('The code is empty.')
  return exchange(consoleUrl, code, verifier)
}

async function receiveCode(state: string, addressOf: (more: object) => string): Promise<string> {
  const { port, code } = await listenForCode(state)
  const address = addressOf({ port: String(port) })
  console.error(
    `Allow the login in the browser. If it does not open, open this address on this computer:\n\n${address}\n`,
  )
  openBrowser(address)
  return code
}

function pasteCode(address: string): Promise<string> {
  console.error(`Open this address in a browser, and allow the login:\n\n${address}\n`)
  return readLine('Code that the console shows: ')
}

/** A console that forwards people to another one would get the key of that. */
async function exchange(consoleUrl: string, code: string, verifier: string): Promise<string> {
  if (!code.endsWith(`@${new URL(consoleUrl).host}`)) {
    throw new Error(`The code is not one of ${consoleUrl}: it does not end with "@${new URL(consoleUrl).host}".`)
  }
  const response = await send(
    new Request(`${consoleUrl}/login/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code, verifier }),
      redirect: 'error',
    }),
    consoleUrl,
  )
  const { apiKey, error } = Object(await response.json().catch(() => undefined))
  if (response.ok && typeof apiKey === 'string' && apiKey !== '') return validApiKey(apiKey, 'The API key')
  throw new Error(printable(String(error ?? `${consoleUrl} responded with the status ${response.status}.`)))
}

const newSecret = () => randomBytes(RANDOM_BYTES).toString('base64url')

/** The name that the console shows. */
function machineName(): string {
  return (
    hostname()
      .replaceAll(/[^\w.-]/g, '-')
      .slice(0, MAX_MACHINE_LENGTH) || 'computer'
  )
}
