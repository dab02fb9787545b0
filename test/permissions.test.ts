/**
 * Who may do what: every operation of the document, with keys of one scope, people of each role and apps of each
 * permission. What each of them may do follows from the scope that the document names.
 */
import { createExecutionContext } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { BUNDLE_NAMES, BUNDLES } from '../src/access/bundles.ts'
import { ROLE_NAMES, ROLES, type Role } from '../src/access/roles.ts'
import { SCOPES, type Scope } from '../src/access/scopes.ts'
import { connectApp } from '../src/sign-in/connect-app.ts'
import { document } from './support/document.ts'
import { deployed, env } from './support/env.ts'
import { dumpStores, exampleList, send, successOf } from './support/examples.ts'
import { sampled } from './support/long-form.ts'
import { inOneBatch } from './support/set-up.ts'
import { admitted, newPerson } from './support/sign-in.ts'
import { emptyStores } from './support/stores.ts'
import { Workspace } from './support/workspace.ts'

/** Somebody who holds a credential. */
interface Holder {
  readonly name: string
  readonly scopes: readonly Scope[]
}

/** A person, or an app that a person connected. */
interface SignedIn extends Holder {
  mint(workspace: Workspace): Promise<string>
}

const keyOf = (scope: Scope) => ({ name: `a key of ${scope}`, scopes: [scope] })

/** @returns the session of a person who signed in, as the user of the workspace. */
async function signInAs(workspace: Workspace, role: Role): Promise<string> {
  const person = newPerson()
  const { issuer, subject } = person
  await workspace.addIdentity({ userId: workspace.userId, issuer, subject, role, ruleIds: null })
  return (await admitted(workspace, person)).token
}

const people = ROLE_NAMES.map(
  (role): SignedIn => ({
    name: `a person who is ${role}`,
    scopes: ROLES[role],
    mint: (workspace) => signInAs(workspace, role),
  }),
)

const apps = BUNDLE_NAMES.map(
  (bundle): SignedIn => ({
    name: `an app with ${bundle}`,
    scopes: BUNDLES[bundle],
    async mint(workspace) {
      const app = await connectApp(deployed(env), createExecutionContext(), await signInAs(workspace, 'admin'), {
        clientId: 'client',
        clientName: 'Editor',
        redirectHost: 'app.example.com',
        consent: null,
        bundles: [bundle],
        projectIds: null,
        days: 1,
        address: '192.0.2.1',
      })
      if ('error' in app) throw new Error(app.error)
      return app.token
    },
  }),
)

/** Why a person and an app are refused what the example asks, although they have the scope. */
const BEYOND_SCOPES: Readonly<Record<string, string>> = {
  createApiKeySession: 'api_key_is_session',
  // The app of somebody else.
  deleteOwnApp: 'api_key_forbidden',
  // A key of a thousand years.
  createApiKey: 'exceeds_own_key',
  rotateApiKey: 'exceeds_own_key',
}

/** The scope that the document says an operation needs; undefined: any key will do. */
function requiredScope(operationId: string): Scope | undefined {
  type Operations = Record<string, { readonly operationId: string; readonly security: readonly [{ apiKey: Scope[] }] }>
  const documented = Object.values<Operations>(document.paths).flatMap((operations) => Object.values(operations))
  return documented.find((operation) => operation.operationId === operationId)?.security[0].apiKey[0]
}

/** Every operation, and which holders have its scope, and all scopes that its example needs. */
const operations = exampleList.map(({ operationId, contract, row }, place) => {
  const scope = requiredScope(operationId)
  const hasScope = ({ scopes }: Holder) => !scope || scopes.includes(scope)
  const hasAll = (holder: Holder) =>
    hasScope(holder) && (row.furtherScopes ?? []).every((needed) => holder.scopes.includes(needed))
  return {
    operationId,
    row,
    success: successOf(contract),
    refused: [...sampled(13, SCOPES.map(keyOf), place), ...people, ...apps].filter((holder) => !hasScope(holder)),
    admitted: sampled(people.length + apps.length, [...people, ...apps], place).filter(hasAll),
  }
})

it('refuses every key, person and app that has not the scope of an operation, and changes nothing', async () => {
  await emptyStores()
  const requests = await inOneBatch(() =>
    Promise.all(
      operations.map(async ({ operationId, row, refused }) => {
        const workspace = await Workspace.create()
        const example = await row.prepare(workspace)
        const tokens = await Promise.all(refused.map(({ scopes }) => workspace.addKey({ scopes })))
        return tokens.map((token, index) => ({ operationId, example, token, holder: refused[index]?.name }))
      }),
    ),
  )
  const before = await dumpStores()
  const wrong: unknown[] = []
  for (const { operationId, example, token, holder } of requests.flat()) {
    const { status, headers } = await send(operationId, example, token)
    const code = headers.get('Error-Code')
    if (code !== 'missing_scope') wrong.push([operationId, holder, status, code])
  }
  expect(wrong).toEqual([])
  expect(await dumpStores()).toEqual(before)
})

it.each(operations.filter(({ admitted }) => admitted.length > 0))(
  'admits people and apps with all scopes that $operationId needs',
  async ({ operationId, row, success, admitted }) => {
    const refusal = BEYOND_SCOPES[operationId] ?? null
    for (const { name, mint } of admitted) {
      const workspace = await Workspace.create()
      const example = await row.prepare(workspace)
      const { status, headers } = await send(operationId, example, await mint(workspace))
      expect([name, status, headers.get('Error-Code')]).toEqual([name, refusal ? 403 : success, refusal])
    }
  },
)
