import { sql as drizzleSql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { organizationComparisons, parseStatement, unboundTables } from '../../../scripts/checks/bound-tables.ts'

/** A statement with named placeholders: `:name`. */
function statementOf(named: string) {
  const params: unknown[] = []
  const sql = named.replaceAll(/:([\w.]+)/g, (_, name) => {
    params.push(drizzleSql.placeholder(name))
    return '?'
  })
  return { sql, params }
}

const unboundIn = (named: string) => unboundTables(parseStatement(statementOf(named)))

const GUARD = `hash = :caller.keyHash and instr(scopes, :caller.scope) > 0`
const ORGANIZATION = `(select organizationId from apiKeys where ${GUARD})`

describe('of a statement of a caller', () => {
  it.each([
    ['a scalar subquery', `select name from sessions where organizationId = ${ORGANIZATION}`],
    ['a join', `select s.name from apiKeys k join sessions s on s.organizationId = k.organizationId where k.${GUARD}`],
    [
      'a chain of joins',
      `select s.id from apiKeys k left join sessions s on s.organizationId = k.organizationId
       left join projects p on s.organizationId = p.organizationId and p.id = s.projectId where k.${GUARD}`,
    ],
    [
      'a subquery that refers to the query around it',
      `select s.id from apiKeys k join sessions s on s.organizationId = k.organizationId where k.${GUARD}
       and exists (select 1 from projects p where p.organizationId = s.organizationId and p.id = s.projectId)`,
    ],
    [
      'a comparison of rows',
      `delete from pins where (organizationId, userId) in
       (select u.organizationId, u.id from apiKeys k join users u on u.organizationId = k.organizationId where k.${GUARD})`,
    ],
    [
      'rows that are compared with bound ones',
      `select s.id from apiKeys k join sessions s on s.organizationId = k.organizationId where k.${GUARD}
       and (s.organizationId, s.projectId) in (select organizationId, id from projects)`,
    ],
    [
      'a recursive CTE',
      `with recursive lineage(organizationId, id) as (
         select organizationId, id from apiKeys where ${GUARD}
         union select child.organizationId, child.id from apiKeys child join lineage
           on child.organizationId = lineage.organizationId and child.createdByKeyId = lineage.id)
       select name from apiKeys where (organizationId, id) in (select * from lineage)`,
    ],
    [
      'both sides of OR',
      `select id from sessions where (organizationId = ${ORGANIZATION} and id = :a) or (id = :b and organizationId = ${ORGANIZATION})`,
    ],
    [
      'an insert with a conflict in the organization',
      `insert into users (organizationId, id, name) select organizationId, :id, :name from apiKeys where ${GUARD}
       on conflict (organizationId, id) do update set name = excluded.name`,
    ],
    [
      'the hash of a row of the organization',
      `update apiKeys set revokedAt = :now where hash in (select other.hash from apiKeys k
       join apiKeys other on other.organizationId = k.organizationId where k.${GUARD})`,
    ],
  ])('a table is bound by %s', (_, sql) => {
    expect(unboundIn(sql)).toEqual([])
  })

  it.each([
    ['nothing', 'sessions', `select id, :caller.keyHash, :caller.scope from sessions`],
    [
      'IS NOT NULL',
      'sessions',
      `select id from sessions, apiKeys where apiKeys.${GUARD} and sessions.organizationId is not null`,
    ],
    [
      'the hash of a row of any organization',
      'apiKeys as other',
      `select :caller.keyHash, :caller.scope from apiKeys k join apiKeys other on other.hash = :hash
       where k.organizationId = ${ORGANIZATION}`,
    ],
    [
      'another column',
      'projects as p',
      `select p.id from apiKeys k join projects p on p.id = k.organizationId where k.${GUARD}`,
    ],
    [
      'a value of the request',
      'sessions',
      `select id, :caller.keyHash, :caller.scope from sessions where organizationId = :organizationId`,
    ],
    ['one side of OR', 'sessions', `select id from sessions where organizationId = ${ORGANIZATION} or id = :id`],
    ['NOT', 'sessions', `select id from sessions where not organizationId = ${ORGANIZATION}`],
    [
      'an alias of the same table',
      'sessions as other',
      `select other.id from sessions join sessions other on other.projectId = sessions.projectId
       where sessions.organizationId = ${ORGANIZATION}`,
    ],
    [
      'the condition of a left join, which has rows where it is false',
      'sessions',
      `select sessions.id from sessions left join apiKeys k on k.${GUARD} and sessions.organizationId = k.organizationId`,
    ],
    [
      'a subquery in a FROM clause that is not bound itself',
      'sessions',
      `select s.id from (select * from sessions limit 10) s join apiKeys k on k.organizationId = s.organizationId where k.${GUARD}`,
    ],
    [
      'a recursive CTE that leaves the organization',
      'apiKeys as child',
      `with recursive lineage(organizationId, id) as (
         select organizationId, id from apiKeys where ${GUARD}
         union select child.organizationId, child.id from apiKeys child join lineage on child.createdByKeyId = lineage.id)
       select id from lineage`,
    ],
    [
      'an API key that is not the one of the caller',
      'sessions as s',
      `select s.id, :caller.keyHash, :caller.scope from sessions s where organizationId = (select organizationId from users limit 1)`,
    ],
    [
      'an update of its organization',
      'sessions in another organization',
      `update sessions set organizationId = :organizationId where organizationId = ${ORGANIZATION}`,
    ],
    [
      'an insert',
      'inserted users',
      `insert into users (organizationId, id) select :organizationId, :id from apiKeys where ${GUARD}`,
    ],
    [
      'a conflict without the organization',
      'conflicting users',
      `insert into users (organizationId, id) select organizationId, :id from apiKeys where ${GUARD}
       on conflict (id) do update set name = 'x'`,
    ],
    [
      'a subquery of the returned columns',
      'projects',
      `delete from sessions where organizationId = ${ORGANIZATION} returning (select name from projects where id = projectId)`,
    ],
    [
      'HAVING, a condition of groups',
      'sessions',
      `select projectId, group_concat(name) from sessions group by projectId having organizationId = ${ORGANIZATION}`,
    ],
    [
      'a recursive CTE whose second round leaves the organization',
      'sessions',
      `with recursive r(a, b) as (select organizationId, organizationId from apiKeys where ${GUARD} union select b, :other from r)
       select name from sessions where organizationId in (select a from r)`,
    ],
    [
      'a replacement',
      'replaced skillFeeds',
      `insert or replace into skillFeeds (organizationId, id, hash) select organizationId, :id, :hash from apiKeys where ${GUARD}`,
    ],
    [
      'an update of several columns with its organization',
      'sessions in another organization',
      `update sessions set (name, organizationId) = (select k.organizationId, :organizationId from apiKeys k where k.${GUARD})
       where organizationId = ${ORGANIZATION}`,
    ],
    [
      'a comparison of what was counted over all',
      'sessions',
      `select k.id from apiKeys k where k.${GUARD} and (k.organizationId, :n) in (select organizationId, max(name) from sessions)`,
    ],
    [
      'a comparison with groups',
      'sessions',
      `select k.id from apiKeys k where k.${GUARD} and k.organizationId in (select organizationId from sessions group by projectId)`,
    ],
    [
      'a comparison with a page',
      'sessions',
      `select k.id from apiKeys k where k.${GUARD} and k.organizationId in (select organizationId from sessions order by id limit 1)`,
    ],
    ['an offset', 'sessions', `select name from apiKeys where ${GUARD} limit 1 offset (select count(*) from sessions)`],
    [
      'a condition of an inner query on the outer one',
      'apiKeys as a',
      `select a.name, :caller.scope from apiKeys a left join json_each((select '[1]' where a.hash = :caller.keyHash))`,
    ],
  ])('a table is not bound by %s', (_, table, sql) => {
    expect(unboundIn(sql)).toContain(table)
  })
})

describe('what the check does not know', () => {
  it.each([
    `select name, :caller.keyHash, :caller.scope from SESSIONS`,
    `select name from apiKeys natural join sessions where ${GUARD}`,
    `select name from apiKeys join sessions using (organizationId) where ${GUARD}`,
    `select sum(1) over w from apiKeys where ${GUARD} window w as (order by (select count(*) from sessions))`,
  ])('is refused: %s', (sql) => {
    expect(() => unboundIn(sql)).toThrow()
  })

  it('is not hidden by a CTE of the name of a table', () => {
    const sql = `with sessions as (select organizationId, name from apiKeys where ${GUARD}) select * from main.sessions`
    expect(unboundIn(sql)).toEqual(['sessions'])
  })
})

describe('of a statement without a caller', () => {
  it.each([
    [
      'the row that it begins from',
      `select r.id from runs r left join schedules s on s.organizationId = r.organizationId`,
    ],
    ['a bound organizationId', `select key from environmentVariables where organizationId = :organizationId`],
    [
      'rows in JSON',
      `update runs set status = 'failed' from json_each(:rows) as row where runs.organizationId = (row.value ->> 'organizationId')`,
    ],
    [
      'a page of rows',
      `delete from sessions where (organizationId, id) in (select s.organizationId, s.id from
       (select * from deletions limit 500) d cross join sessions s on s.organizationId = d.organizationId)`,
    ],
  ])('a table is bound by %s', (_, sql) => {
    expect(unboundIn(sql)).toEqual([])
  })

  it('only one table is where it begins', () => {
    expect(unboundIn('select r.id from runs r left join schedules s on s.id = r.scheduleId')).toHaveLength(1)
    expect(
      unboundIn('select id from runs where organizationId = :organizationId and exists (select 1 from users)'),
    ).toEqual(['users'])
  })
})

describe('a comparison that is taken out', () => {
  it('can be put back', () => {
    const statement = statementOf(
      `select id from sessions where organizationId = ${ORGANIZATION} and (organizationId, projectId) in (select organizationId, id from projects)`,
    )
    const parsed = parseStatement(statement)
    const comparisons = organizationComparisons(parsed, statement)
    const without = comparisons.map(({ remove }) => {
      const putBack = remove()
      const unbound = unboundTables(parsed)
      putBack()
      return unbound
    })
    expect(without).toEqual([['sessions', 'projects'], ['projects']])
    expect(unboundTables(parsed)).toEqual([])
  })
})
