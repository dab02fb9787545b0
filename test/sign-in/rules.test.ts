/**
 * Who gets in, and with what, is exactly what the rules and the invitations say: small rule tables, invitations and
 * people, evaluated a second time here.
 * After every change, each token that was given away is live or dead as this evaluation says.
 */
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ROLE_NAMES, ROLES, type Role } from '../../src/access/roles.ts'
import { invitations } from '../../src/db/schema.ts'
import { request } from '../support/api.ts'
import { env } from '../support/env.ts'
import { sized } from '../support/long-form.ts'
import { inOneBatch } from '../support/set-up.ts'
import { newPerson, signIn } from '../support/sign-in.ts'
import { Workspace } from '../support/workspace.ts'

const ISSUERS = ['https://one.example', 'https://two.example']
/** Claims with values, of rules and of people: some differ in case only. */
const PAIRS = [
  ['groups', 'admins'],
  ['groups', 'staff'],
  ['groups', 'Staff'],
  ['realm.roles', 'staff'],
  ['email', 'ada@example.com'],
  ['email', 'Ada@Example.com'],
] as const
const PROJECTS = ['p1', 'p2', 'p3']

const projectIds = fc.option(fc.subarray(PROJECTS), { freq: 2 })
const pair = fc.constantFrom<readonly [string, string]>(...PAIRS)
const ruleOf = fc
  .record({
    issuer: fc.constantFrom(...ISSUERS, ISSUERS[0] as string),
    pair: fc.oneof(
      { weight: 6, arbitrary: pair },
      { weight: 1, arbitrary: fc.constantFrom(...ISSUERS).map((issuer) => ['iss', issuer] as const) },
    ),
    role: fc.constantFrom(...ROLE_NAMES),
    projectIds,
  })
  .map(({ pair: [claim, value], ...rule }) => ({ ...rule, claim, value }))
const claimsOf = fc.array(pair, { minLength: 1, maxLength: 4, size: 'max' })
const subject = fc.nat(4)
/** Claims as the provider verified them: null is one that it did not verify. Some differ in case only, or look alike. */
const EMAILS = [null, 'ada@example.com', 'Ada@Example.com', 'kate@example.com', '\u212aate@example.com']
/** The user that the organization has, by its place in the model. */
const EXISTING = 'existing'
const commandOf = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('sign in' as const),
      subject,
      claims: fc.option(claimsOf, { freq: 2 }),
      email: fc.constantFrom(...EMAILS),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('invite' as const),
      invitation: fc.record({
        email: fc.constantFrom('ada@example.com', 'ADA@example.com', 'Kate@example.com'),
        issuer: fc.constantFrom(...ISSUERS),
        role: fc.constantFrom(...ROLE_NAMES),
        projectIds,
        userId: fc.option(fc.constant(EXISTING), { freq: 2 }),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('delete invitation' as const), invitation: fc.nat() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('let invitation expire' as const), invitation: fc.nat() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create rule' as const), rule: ruleOf }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('update rule' as const),
      rule: fc.nat(),
      change: fc.oneof(
        ruleOf.map(({ role }) => ({ role })),
        ruleOf.map(({ projectIds }) => ({ projectIds })),
        ruleOf.map(({ claim, value }) => ({ claim, value })),
        ruleOf,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete rule' as const), rule: fc.nat() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('update identity' as const),
      subject,
      change: fc.oneof(
        { weight: 4, arbitrary: fc.record({ role: fc.constantFrom(...ROLE_NAMES), projectIds }) },
        { weight: 1, arbitrary: fc.constant({ role: null }) },
        { weight: 1, arbitrary: fc.boolean().map((blocked) => ({ blocked })) },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete identity' as const), subject }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create key' as const), subject }) },
)

interface Rule {
  readonly id: string
  readonly issuer: string
  readonly claim: string
  readonly value: string
  readonly role: Role
  readonly projectIds: readonly string[] | null
}

interface Invitation extends Permissions {
  readonly id: string
  readonly issuer: string
  /** In lower case. */
  readonly email: string
  readonly userId: string | null
  readonly isExpired: boolean
}

interface Permissions {
  readonly role: Role
  readonly projectIds: readonly string[] | null
}

interface Given {
  readonly token: string
  readonly scopes: readonly string[]
  readonly projectIds: readonly string[] | null
}

interface Known extends Permissions {
  readonly id: string
  readonly userId: string
  /** Null: the role was given to the person. */
  readonly ruleIds: readonly string[] | null
  readonly isBlocked: boolean
}

/** Rule by rule, without SQL. @returns undefined if no rule admits the person. */
function evaluate(rules: readonly Rule[], issuer: string, claims: readonly (readonly [string, string])[]) {
  const has = ({ claim, value }: Rule) => {
    if (claim === 'iss') return value === issuer
    const sameCase = (text: string) => (claim === 'email' ? text.toLowerCase() : text)
    return claims.some(([name, sent]) => name === claim && sameCase(sent) === sameCase(value))
  }
  const admitting = rules.filter((rule) => rule.issuer === issuer && has(rule))
  for (const role of [...ROLE_NAMES].reverse()) {
    const deciding = admitting.filter((rule) => rule.role === role)
    if (deciding.length === 0) continue
    const isUnrestricted = deciding.some((rule) => rule.projectIds === null)
    const union = new Set(deciding.flatMap((rule) => rule.projectIds ?? []))
    return {
      role,
      projectIds: isUnrestricted ? null : [...union].sort(),
      ruleIds: deciding.map(({ id }) => id).sort(),
    }
  }
  return undefined
}

const isWithin = ({ scopes, projectIds }: Given, may: Permissions) =>
  scopes.every((scope) => (ROLES[may.role] as readonly string[]).includes(scope)) &&
  (may.projectIds === null || projectIds?.every((projectId) => may.projectIds?.includes(projectId)) === true)

class Model {
  readonly rules: Rule[] = []
  /** Those that nobody has accepted. */
  invitations: Invitation[] = []
  readonly identities = new Map<number, Known>()
  readonly claims = new Map<number, readonly (readonly [string, string])[]>()
  readonly tokens = new Map<number, Given[]>()
  readonly dead: string[] = []

  issuerOf(subject: number): string {
    return ISSUERS[subject % 2] as string
  }

  tokensOf(subject: number): Given[] {
    return this.tokens.get(subject) ?? []
  }

  end(subject: number, stays: (given: Given) => boolean = () => false): void {
    const tokens = this.tokensOf(subject)
    this.dead.push(...tokens.filter((given) => !stays(given)).map(({ token }) => token))
    this.tokens.set(subject, tokens.filter(stays))
  }

  endOfRule(id: string): void {
    for (const [subject, { ruleIds }] of this.identities) if (ruleIds?.includes(id)) this.end(subject)
  }
}

it('admits whom the rules admit, with what they give, and ends what they no longer give', async () => {
  const seen = { admitted: 0, refused: 0, restricted: 0, ended: 0, given: 0, accepted: 0, linked: 0 }
  const property = fc.asyncProperty(
    fc.array(ruleOf, { minLength: 1, maxLength: 5, size: 'max' }),
    fc.array(commandOf, { minLength: 10, maxLength: 25, size: 'max' }),
    async (first, commands) => {
      const workspace = await Workspace.create()
      for (const projectId of PROJECTS) await workspace.addProject(projectId)
      const key = await workspace.addKey({ userId: null })
      const model = new Model()
      const call = async (method: string, path: string, json?: object) => {
        const { status, body } = await request(method, path, { key, ...(json && { json }) })
        expect([status, body]).toEqual([method === 'POST' ? 201 : 200, expect.anything()])
        return body
      }
      const createRule = async (rule: Omit<Rule, 'id'>) =>
        void model.rules.push({ ...rule, id: (await call('POST', '/v1/sign-in-rules', rule)).id })

      /** What the person accepts, and no longer can be accepted. */
      function accept(subject: number, email: string | null): Invitation | undefined {
        const known = model.identities.get(subject)
        if (known && (known.isBlocked || known.ruleIds === null)) return undefined
        const index = model.invitations.findIndex(
          (each) =>
            !each.isExpired &&
            each.issuer === model.issuerOf(subject) &&
            // No other address has the same in lower case.
            (email === 'Ada@Example.com' ? 'ada@example.com' : email) === each.email &&
            (!known || each.userId === null),
        )
        return index < 0 ? undefined : model.invitations.splice(index, 1)[0]
      }

      async function enter(subject: number, email: string | null): Promise<void> {
        const claims = model.claims.get(subject) ?? []
        const issuer = model.issuerOf(subject)
        const decided = evaluate(model.rules, issuer, claims)
        const preview = await request('POST', '/v1/sign-in-rules/preview', {
          key,
          json: { issuer, claims: claims.map(([claim, value]) => ({ claim, value })) },
        })
        expect(preview.body).toEqual(
          decided ? { admitted: true, ...decided } : { admitted: false, role: null, projectIds: null, ruleIds: [] },
        )
        const known = model.identities.get(subject)
        const accepted = accept(subject, email)
        const result = await signIn(workspace, newPerson({ issuer, subject: `subject-${subject}`, claims, email }))
        if (known?.isBlocked) return expect(result).toEqual({ refusal: 'blocked' })
        const may = known && known.ruleIds === null ? known : (accepted ?? decided)
        if (!may) {
          seen.refused++
          expect(result).toEqual({ refusal: 'not_admitted' })
          if (known) model.identities.set(subject, { ...known, ruleIds: [] })
          return model.end(subject)
        }
        seen.admitted++
        if (may.projectIds) seen.restricted++
        if (may === known) seen.given++
        if (accepted) seen.accepted++
        if (accepted?.userId) seen.linked++
        if ('refusal' in result) throw new Error(`Refused: ${result.refusal}`)
        const { body } = await request('GET', '/v1/me', { key: result.token })
        expect([body.apiKey.scopes, body.apiKey.projectIds]).toEqual([ROLES[may.role], may.projectIds])
        const userId = known?.userId ?? accepted?.userId ?? result.userId
        expect([result.userId, body.user.id]).toEqual([userId, userId])
        expect(result.isFirst).toBe(known === undefined && !accepted?.userId)
        // Only the user that an invitation named can be several people.
        const others = [...model.identities].filter(([other]) => other !== subject).map(([, each]) => each.userId)
        if (userId !== workspace.userId) expect(others).not.toContain(userId)
        const { role, projectIds } = may
        const ruleIds = may === known || accepted ? null : (decided?.ruleIds ?? [])
        const identity = { id: body.apiKey.identityId, userId: result.userId, isBlocked: false }
        model.identities.set(subject, { ...identity, role, projectIds, ruleIds })
        model.end(subject, (given) => isWithin(given, may))
        model.tokensOf(subject).push({ token: result.token, scopes: ROLES[role], projectIds })
      }

      for (const rule of first) await createRule(rule)
      for (const command of commands) {
        if (command.do === 'sign in') {
          if (command.claims) model.claims.set(command.subject, command.claims)
          await enter(command.subject, command.email)
        } else if (command.do === 'invite') {
          const { email, userId: isLinked, ...rest } = command.invitation
          const invitation = { ...rest, email: email.toLowerCase(), userId: isLinked && workspace.userId }
          const isSame = (each: Invitation) =>
            !each.isExpired && each.email === invitation.email && each.issuer === invitation.issuer
          const json = { ...invitation, email }
          if (model.invitations.some(isSame)) {
            const { headers } = await request('POST', '/v1/invitations', { key, json })
            expect(headers.get('Error-Code')).toBe('invitation_exists')
          } else {
            const { id } = await call('POST', '/v1/invitations', json)
            const open = model.invitations.filter(({ isExpired }) => !isExpired)
            model.invitations = [...open, { ...invitation, id, isExpired: false }]
          }
        } else if (command.do === 'delete invitation' || command.do === 'let invitation expire') {
          const index = command.invitation % Math.max(model.invitations.length, 1)
          const invitation = model.invitations[index]
          if (!invitation) continue
          if (command.do === 'delete invitation') {
            await call('DELETE', `/v1/invitations/${invitation.id}`)
            model.invitations.splice(index, 1)
          } else {
            await workspace.change(invitations, invitation.id, { expiresAt: '2020-01-01T00:00:00.000Z' })
            model.invitations[index] = { ...invitation, isExpired: true }
          }
        } else if (command.do === 'create rule') {
          await createRule(command.rule)
        } else if (command.do === 'update rule' || command.do === 'delete rule') {
          const index = command.rule % Math.max(model.rules.length, 1)
          const rule = model.rules[index]
          if (!rule) continue
          const path = `/v1/sign-in-rules/${rule.id}`
          if (command.do === 'update rule') {
            await call('PATCH', path, command.change)
            const changed = { ...rule, ...command.change }
            if (!isDeepStrictEqual(changed, rule)) model.endOfRule(rule.id)
            model.rules[index] = changed
          } else {
            await call('DELETE', path)
            model.rules.splice(index, 1)
            model.endOfRule(rule.id)
          }
        } else {
          const known = model.identities.get(command.subject)
          if (!known) continue
          const path = `/v1/identities/${known.id}`
          if (command.do === 'create key') {
            const [session] = model.tokensOf(command.subject)
            if (!session?.scopes.includes('api-keys:write')) continue
            const json = { name: 'laptop', scopes: ['skills:read'] }
            const { body } = await request('POST', '/v1/api-keys', { key: session.token, json })
            expect(body.identityId).toBe(known.id)
            const { token, scopes, projectIds } = body
            model.tokensOf(command.subject).push({ token, scopes, projectIds })
          } else if (command.do === 'delete identity') {
            await call('DELETE', path)
            model.identities.delete(command.subject)
            model.end(command.subject)
          } else {
            const { change } = command
            await call('PATCH', path, change)
            const changed = 'blocked' in change ? { ...known, isBlocked: change.blocked } : known
            const role = 'role' in change && change.role ? { ...change, ruleIds: null } : {}
            const ruleIds = 'role' in change && change.role === null ? { ruleIds: known.ruleIds ?? [] } : {}
            const updated = { ...changed, ...role, ...ruleIds } as Known
            if (!isDeepStrictEqual(updated, known)) model.end(command.subject)
            model.identities.set(command.subject, updated)
          }
        }
        for (const token of model.dead)
          expect((await request('GET', '/v1/me', { key: token })).headers.get('Error-Code')).toBe('api_key_revoked')
        for (const tokens of model.tokens.values())
          for (const { token } of tokens) expect((await request('GET', '/v1/me', { key: token })).status).toBe(200)
        seen.ended += model.dead.splice(0).length
      }
    },
  )
  const numRuns = sized(60, 600)
  await fc.assert(property, { numRuns, seed: env.SEED, endOnFailure: true })
  for (const [what, count] of Object.entries(seen)) expect([what, count > numRuns / 10]).toEqual([what, true])
})

it('rules that name more than 64 KiB of projects together admit nobody, since each key has a copy', async () => {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const issuer = 'https://login.example'
  const preview = async () => {
    const json = { issuer, claims: [] }
    return (await request('POST', '/v1/sign-in-rules/preview', { key, json })).body.admitted
  }
  for (let rule = 0; rule < 9; rule++) {
    const ids = Array.from({ length: 32 }, (_, index) => `${rule}-${index}`.padEnd(250, 'x'))
    await inOneBatch(async () => {
      for (const id of ids) await workspace.addProject(id)
    })
    const json = { issuer, claim: 'iss', value: issuer, role: 'member', projectIds: ids }
    expect((await request('POST', '/v1/sign-in-rules', { key, json })).status).toBe(201)
    expect([rule, await preview()]).toEqual([rule, rule < 8])
  }
  expect(await signIn(workspace, newPerson({ issuer }))).toEqual({ refusal: 'not_admitted' })
  const json = { issuer, claim: 'iss', value: issuer, role: 'member', projectIds: null }
  expect((await request('POST', '/v1/sign-in-rules', { key, json })).status).toBe(201)
  expect(await preview()).toBe(true)
})
