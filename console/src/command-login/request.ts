/** What `workspace login` asks for, in the query of the address that it opens, and how it gets the answer. */

export interface LoginRequest {
  /** The challenge of PKCE: SHA-256 of the verifier, which the command keeps. */
  readonly challenge: string
  /** Goes back to the command with the answer. */
  readonly state: string
  /** Where the command listens on the loopback address; null: the person copies the code. */
  readonly port: number | null
  /** What the computer calls itself. */
  readonly machine: string
  /** The API that the command will send the key to (RFC 8707). */
  readonly resource: string
}

/** What the person decided. */
export interface LoginDecision {
  /** The query of the page. */
  readonly query: string
  readonly days: number
}

/** What the command exchanges, with its verifier, for its key. */
export interface LoginCode {
  readonly code: string
}

/** The query of what a person opens to log a command in. */
const FIELDS: Readonly<Record<string, RegExp>> = {
  code_challenge: /^[\w-]{43}$/,
  state: /^[\w-]{1,100}$/,
  machine: /^[\w.-]{1,64}$/,
  port: /^[1-9]\d{0,4}$/,
}
const MAX_PORT = 65_535

/** @returns what is wrong with it, as a sentence. */
export function parseLoginRequest(query: string): LoginRequest | string {
  const given = new URLSearchParams(query)
  for (const [name, pattern] of Object.entries(FIELDS)) {
    const value = given.get(name)
    if (value === null ? name !== 'port' : !pattern.test(value)) return `Its address has no valid ${name}.`
  }
  const port = given.has('port') ? Number(given.get('port')) : null
  if (port !== null && port > MAX_PORT) return 'Its address has no valid port.'
  const resource = given.get('resource') ?? ''
  if (!URL.canParse(resource)) return 'Its address has no valid resource.'
  const text = (name: string) => given.get(name) ?? ''
  return { challenge: text('code_challenge'), state: text('state'), machine: text('machine'), port, resource }
}

/** Where the command listens: never another host. */
export function addressOfCommand(port: number, answer: Readonly<Record<string, string>>): string {
  return `http://127.0.0.1:${port}/callback?${new URLSearchParams(answer)}`
}
