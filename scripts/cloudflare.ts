/** The Cloudflare account that is deployed to, asked through its API with wrangler's credentials. */
import { type Deployment, runWrangler } from './wrangler.ts'

const API_URL = 'https://api.cloudflare.com/client/v4'

const HOW_TO_LOG_IN = `Cloudflare does not know you: run \`npm run wrangler -- login\`, or set CLOUDFLARE_API_TOKEN. A token needs these permissions:
- account: Workers Scripts, D1, Workers R2 Storage and Queues (edit), Account Settings (read)
- user: User Details and Memberships (read)
- zone, for a domain of your own: Workers Routes (edit)`

/** What D1, R2 and Workers answer with when there is no such thing. */
const MISSING_CODES = [7404, 10006, 10007, 10090]

interface Answer<Result> {
  readonly success?: boolean
  readonly result?: Result
  readonly errors?: readonly { readonly code: number; readonly message: string }[]
}

export class Account {
  readonly #deployment: Deployment
  #id: string | undefined
  #headers: Readonly<Record<string, string>> = {}

  /** @param id needed only where who is logged in has several accounts. */
  constructor(deployment: Deployment, id: string | undefined) {
    this.#deployment = deployment
    this.#id = id
  }

  /** @returns the account's name. @throws what to do, if nobody is logged in or it is not clear to which account. */
  logIn(): string {
    const { accounts } = this.#whoAmI()
    this.#id ??= accounts.length === 1 ? accounts[0]?.id : undefined
    if (!this.#id) {
      const list = accounts.map(({ id, name }) => `\n- ${id} (${name})`).join('')
      throw new Error(`Set CLOUDFLARE_ACCOUNT_ID to the id of the account to deploy to.${list}`)
    }
    const { token, key, email } = JSON.parse(runWrangler(['auth', 'token', '--json'], this.#deployment))
    this.#headers = token
      ? { Authorization: `Bearer ${token}` }
      : { 'X-Auth-Key': key, 'X-Auth-Email': email }
    // Wrangler would choose one by itself, perhaps another.
    process.env.CLOUDFLARE_ACCOUNT_ID = this.#id
    return accounts.find(({ id }) => id === this.#id)?.name ?? this.#id
  }

  #whoAmI(): { accounts: { id: string; name: string }[] } {
    try {
      return JSON.parse(runWrangler(['whoami', '--json'], this.#deployment))
    } catch (error) {
      throw new Error(HOW_TO_LOG_IN, { cause: error })
    }
  }

  /** @returns undefined if there is no such thing. */
  get<Result>(path: string): Promise<Result | undefined> {
    return this.#call('GET', path)
  }

  async put(path: string, body: object): Promise<void> {
    await this.#call('PUT', path, body)
  }

  async #call<Result>(method: string, path: string, body?: object): Promise<Result | undefined> {
    const url = `${process.env.CLOUDFLARE_API_BASE_URL ?? API_URL}/accounts/${this.#id}${path}`
    const response = await fetch(url, {
      method,
      headers: { ...this.#headers, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json().catch(() => ({}))) as Answer<Result>
    const { success, result, errors = [] } = answer
    if (success) return result
    if (method === 'GET' && errors.some(({ code }) => MISSING_CODES.includes(code))) return undefined
    const words = errors.map(({ code, message }) => `${message} [code: ${code}]`).join(', ')
    throw new Error(`Cloudflare answered ${method} ${path} with ${response.status} ${words}`)
  }
}
