import { is, Placeholder, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { namedStatements } from '../scripts/named-statements.ts'
import type { Preconditions } from '../src/access/preconditions.ts'
import type { Statement } from '../src/db/statement.ts'

declare global {
  interface ImportMeta {
    glob(pattern: string[], options: { eager: true }): Record<string, Record<string, unknown>>
    glob(pattern: string[], options: { eager: true; query: '?raw'; import: 'default' }): Record<string, string>
  }
}

/** No HTTP operation reaches these: the tick, alerts, deliveries, the health check, and service bindings. */
const OF_THE_SERVICE = [
  /^src\/(?:alerts|maintenance|objects|sign-in|resources\/(?:events\/delivery|work\/(?:firing|delivery)))\//,
  /^src\/(?:health|db\/(?:directory|pass)|resources\/environment-variables\/project-environments)\.ts$/,
]
/** They begin from the token of a feed. */
const OF_FEEDS = /^src\/resources\/skill-feeds\/offered\.ts /
/** They begin from the token of a claim link. */
const OF_CLAIM_LINKS = /^src\/resources\/claim-links\/statements\.ts /
/** Bound to the key of a request that was answered already; of deliveries. */
const WITHOUT_CALLER = ['src/access/guard.ts recordUse', 'src/access/wake.ts selectWakeableByService']

const modules = import.meta.glob(['../src/**/*.ts', '!../src/db/statement.ts'], { eager: true })
const found = Object.entries(modules).flatMap(([path, module]) => {
  const file = path.replace('../', '')
  return namedStatements(module).map(([name, statement]) => ({ name: `${file} ${name}`, file, statement }))
})

const placeholdersIn = (params: readonly unknown[]): string[] =>
  params.flatMap((param) => (is(param, Placeholder) ? [param.name] : []))
const placeholdersOf = ({ params }: Statement): string[] => placeholdersIn(params)

/** The values of the guard, of audit events, of quotas and of chunks of rows. */
function isBoundByTheService(name: string, statement: Statement): boolean {
  const isGuarded = placeholdersOf(statement).includes('caller.scope')
  return name.includes('.') || (name === 'now' && isGuarded)
}

/** `npm run generate -- sql` fails if a statement is not exported, so these are all. */
describe('every statement', () => {
  const guarded = found.filter(
    ({ name, file }) =>
      !OF_THE_SERVICE.some((pattern) => pattern.test(file)) &&
      ![OF_FEEDS, OF_CLAIM_LINKS].some((pattern) => pattern.test(name)) &&
      !WITHOUT_CALLER.includes(name),
  )
  it('is found', () => {
    expect(guarded.length).toBeGreaterThan(120)
  })

  it('has no limit that would make SQLite compile it twice', () => {
    expect(found.filter(({ statement }) => /limit [?]/i.test(statement.sql))).toEqual([])
  })

  it.each(found)('takes the parameters that its SQL has: $name', ({ name, statement }) => {
    const used = placeholdersOf(statement).filter((name) => !isBoundByTheService(name, statement))
    const takes = statement.takes.map(({ name }) => name).filter((name) => !isBoundByTheService(name, statement))
    expect(used.filter((name) => !takes.includes(name))).toEqual([])
    // The check of an unchecked precondition takes its parameters and does not have them.
    if (!name.endsWith('.check')) expect(takes.filter((name) => !used.includes(name))).toEqual([])
  })

  it.each(guarded)('of an operation carries the guard: $name', ({ statement }) => {
    expect(placeholdersOf(statement)).toEqual(expect.arrayContaining(['caller.keyHash', 'caller.scope', 'now']))
    for (const column of ['hash', 'revokedAt', 'expiresAt', 'scopes'])
      expect(statement.sql).toContain(`"apiKeys"."${column}"`)
  })

  it.each(found.filter(({ name }) => OF_FEEDS.test(name)))(
    'of a feed begins from its token, and requires that the feed and its API key are live: $name',
    ({ statement }) => {
      expect(placeholdersOf(statement)).toEqual(expect.arrayContaining(['hash', 'now']))
      for (const column of ['skillFeeds"."expiresAt', 'apiKeys"."revokedAt', 'apiKeys"."expiresAt'])
        expect(statement.sql).toContain(`"${column}"`)
      expect(statement.sql).toContain('"apiKeys"."id" = "skillFeeds"."apiKeyId"')
    },
  )

  it.each(found.filter(({ name }) => OF_CLAIM_LINKS.test(name)))(
    'of a claim link begins from its token, and changes something only if it was not used: $name',
    ({ statement }) => {
      expect(placeholdersOf(statement)).toContain('hash')
      if (statement.sql.startsWith('select')) return
      for (const column of ['revokedAt', 'rotatedAt', 'movedTo']) expect(statement.sql).toContain(`"${column}" is null`)
      expect(statement.sql).toMatch(/"expiresAt" > \?/)
    },
  )
})

describe('the preconditions of an operation', () => {
  const preconditions = Object.entries(modules).flatMap(([path, module]) =>
    preconditionsIn(module).map(([name, each]) => ({ name: `${path.replace('../', '')} ${name}`, each })),
  )
  it('are found', () => {
    expect(preconditions.length).toBeGreaterThan(40)
  })

  it.each(preconditions)('take the parameters that their SQL has: $name', ({ each: { takes, check, rows } }) => {
    const guard = placeholdersIn(rows({ one: sql`1` }).toSQL().params)
    const used = new Set([...placeholdersOf(check), ...guard])
    const names = takes.map(({ name }) => name)
    expect([...used].filter((name) => !names.includes(name) && !name.includes('.') && name !== 'now')).toEqual([])
    expect(names.filter((name) => !used.has(name))).toEqual([])
  })
})

function preconditionsIn(exported: unknown, name = ''): [string, Preconditions][] {
  if (typeof exported !== 'object' || exported === null || Array.isArray(exported)) return []
  if ('check' in exported && 'rows' in exported) return [[name, exported as Preconditions]]
  if (![null, Object.prototype].includes(Object.getPrototypeOf(exported))) return []
  return Object.entries(exported).flatMap(([key, value]) => preconditionsIn(value, name ? `${name}.${key}` : key))
}

describe('the status of runs', () => {
  const HOME = '../src/resources/work/run-transitions.ts'
  const sources = import.meta.glob(['../src/**/*.ts'], { eager: true, query: '?raw', import: 'default' })

  it('is written by one file', () => {
    const writers = Object.entries(sources).filter(([, text]) =>
      /\b(?:insert|update)\(\s*runs\b|\b(?:into|update) \$\{runs\}/.test(text),
    )
    expect(writers.map(([path]) => path)).toEqual([HOME])
  })

  it('is written by no statement of a file that does not import from it', () => {
    const writing = found.filter(({ statement }) => /^(?:insert into|update) "runs"/.test(statement.sql))
    const elsewhere = writing.filter(({ file }) => !/run-transitions\.ts'/.test(sources[`../${file}`] ?? ''))
    expect(writing.length).toBeGreaterThan(8)
    expect(elsewhere).toEqual([])
  })
})
