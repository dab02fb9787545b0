/** People of the demo with API keys of their own, so that no test sees the changes of another. */
import { randomUUID } from 'node:crypto'
import type { Query } from '../../../operate/cloudflare.ts'
import { existingDatabaseFile, localDatabase } from '../../../operate/database.ts'
import { type NewIdentity, signInOf } from '../../../test/support/identities.ts'
import type { Console } from '../console.ts'

export interface Person {
  readonly id: string
  readonly name: string
  readonly apiKey: string
  /** Sends a request to the API as this person. @throws if it is refused. */
  send<Body>(method: string, path: string, body?: object): Promise<Body>
}

interface KeyOptions {
  /** Scopes that the key does not have. */
  readonly without?: readonly string[]
  readonly projectIds?: readonly string[]
}

export async function addPerson({ demo }: Console, { without = [], projectIds }: KeyOptions = {}): Promise<Person> {
  const id = randomUUID()
  const name = `Mary ${id.slice(0, 4)}`
  const service = senderOf(demo.baseUrl, demo.serviceKey)
  await service('PUT', `/v1/users/${id}`, { name })
  const { apiKey: own } = await service<{ apiKey: { scopes: string[] } }>('GET', '/v1/me')
  const scopes = own.scopes.filter((scope) => !without.includes(scope))
  const settings = { name: `laptop of ${name}`, scopes, userId: id, ...(projectIds && { projectIds }) }
  const { token } = await service<{ token: string }>('POST', '/v1/api-keys', settings)
  return { id, name, apiKey: token, send: senderOf(demo.baseUrl, token) }
}

export function senderOf(baseUrl: string, apiKey: string): Person['send'] {
  return async (method, path, body) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return await response.json()
  }
}

export const ISSUER = 'https://login.example.com'

/** Makes a person one who has signed in, and made their API key then. @returns the ID of the identity. */
export async function signInAs(
  running: Console,
  { id: userId, send }: Person,
  settings: Partial<NewIdentity> = {},
): Promise<string> {
  const { apiKey: own } = await send<{ apiKey: { id: string } }>('GET', '/v1/me')
  const { organizationId } = running.demo
  const { id, queries } = signInOf({
    organizationId,
    userId,
    apiKeyId: own.id,
    issuer: ISSUER,
    role: 'member',
    ruleIds: [],
    ...settings,
  })
  await writeBeside(running, queries)
  return id
}

/** Writes to the database while the service runs. */
export async function writeBeside({ state }: Console, queries: readonly Query[]): Promise<void> {
  const database = localDatabase(existingDatabaseFile({ remote: false, persistTo: state }))
  try {
    await database.batch(queries)
  } finally {
    database.close()
  }
}
