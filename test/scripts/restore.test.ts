import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Service } from '../../scripts/service.ts'
import { executeSql } from '../../scripts/wrangler.ts'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  runScript,
  startDevServer,
  stopDevServer,
} from '../support/dev-server.ts'

describe('backup, restore and leaving', () => {
  const state = newFolder()
  const files = newFolder()
  const target = { remote: false, persistTo: state }
  const backup = join(files, 'backup.sql')
  const count = (sql: string) =>
    Number(executeSql(target, `SELECT count(*) AS "count" FROM ${sql}`)[0]?.count)
  let server: DevServer | undefined
  let port: number

  const start = async () => {
    server = await startDevServer(state, port)
    const demo = readDemo(state)
    return { demo, as: (key: string) => new Service(demo.baseUrl, key) }
  }
  const stop = async () => {
    if (server) await stopDevServer(server)
    server = undefined
  }
  const tick = () => fetch(`http://localhost:${port}/cdn-cgi/handler/scheduled`)

  beforeAll(async () => {
    port = await freePort()
    const { demo, as } = await start()
    const ada = as(demo.apiKey)
    const schedule = { cron: '* * * * *', timezone: 'UTC' }
    await ada.send('POST', `/v1/projects/${demo.projectId}/schedules`, schedule)
    const { apiKey, sessionId } = demo.otherOrganization
    const grace = as(apiKey)
    for (const path of ['a.txt', 'src/b.txt']) {
      await grace.send(
        'PUT',
        `/v1/sessions/${sessionId}/files?path=${path}`,
        Buffer.from(`The content of ${path}`),
      )
    }
    await grace.send('PUT', '/v1/users/grace/profile-picture', Buffer.from('GIF89a'))
    const variables = `/v1/projects/${demo.otherOrganization.projectId}/environment-variables`
    await grace.send('PUT', `${variables}/TOKEN`, { value: 'a secret' })
    await stop()
  })
  afterEach(stop)
  afterAll(() => {
    rmSync(state, { recursive: true })
    rmSync(files, { recursive: true })
  })

  it('a restore brings back what was, but no key that was revoked, and nothing fires for the time between', async () => {
    runScript('backup', '--output', backup, '--persist-to', state)
    expect(() => runScript('backup', '--output', backup, '--persist-to', state)).toThrow(/does not exist yet/)
    const before = readFileSync(backup, 'utf8')
    const { demo, as } = await start()
    expect(before).toContain(demo.organizationId)
    expect(before).not.toContain(demo.apiKey)
    expect(before).not.toContain('postgres://')

    const ada = as(demo.apiKey)
    const { body: limited } = await as(demo.limitedKey).send<{ apiKey: { id: string } }>('GET', '/v1/me')
    await as(demo.serviceKey).send('DELETE', `/v1/api-keys/${limited.apiKey.id}`)
    const { body: late } = await ada.send<{ token: string }>('POST', '/v1/api-keys', {
      name: 'late',
      scopes: [],
    })
    const path = `/v1/sessions/${demo.sessionId}/files?path=late.txt`
    await ada.send('PUT', path, Buffer.from('An object that nothing will refer to'))
    await ada.send('DELETE', `/v1/skills/${demo.skillId}`)
    await stop()

    const restored = Date.now()
    expect(runScript('restore', '--input', backup, '--persist-to', state)).toMatch(
      /Restored .* keys are live/,
    )
    expect(readdirSync(files).filter((name) => name.includes('.replaced-'))).toHaveLength(1)
    const schedules = executeSql(target, 'SELECT "nextRunAt" FROM "schedules" WHERE "nextRunAt" IS NOT NULL')
    expect(schedules.length).toBeGreaterThan(0)
    for (const { nextRunAt } of schedules) expect(Date.parse(String(nextRunAt))).toBeGreaterThan(restored)
    expect(count('"objectSearches"')).toBe(1)

    await start()
    expect((await ada.send('GET', `/v1/skills/${demo.skillId}`)).status).toBe(200)
    for (const dead of [demo.limitedKey, late.token]) {
      await expect(as(dead).send('GET', '/v1/me')).rejects.toThrow('The API key is not valid')
    }
    expect((await as(demo.serviceKey).send('GET', '/v1/me')).status).toBe(200)
    const { body } = await ada.send<{ items: { path: string }[] }>(
      'GET',
      `/v1/sessions/${demo.sessionId}/files?limit=1000`,
    )
    expect(body.items.map((file) => file.path)).not.toContain('late.txt')

    await tick()
    await tick()
    expect([count('"objectSearches"'), count('"doomedObjects"')]).toEqual([0, 0])
    expect((await ada.send('GET', '/v1/users/ada/profile-picture').catch(() => ({ status: 0 }))).status).toBe(
      200,
    )
    await stop()
  })

  it('a restore revokes all keys, if that is asked for', async () => {
    runScript('restore', '--input', backup, '--revoke-all-keys', '--persist-to', state)
    expect(count('"apiKeys" WHERE "revokedAt" IS NULL')).toBe(0)
    runScript('restore', '--input', backup, '--persist-to', state)
    expect(count('"apiKeys" WHERE "revokedAt" IS NULL')).toBe(0)
    expect(() => runScript('restore', '--input', join(files, 'nothing.sql'), '--persist-to', state)).toThrow(
      /--input/,
    )
  })

  it('reseal says how far the tick is, and when the older keys can go', () => {
    const [{ keyId } = {}] = executeSql(
      target,
      `SELECT substr(substr("sealedValue", 4), 1, instr(substr("sealedValue", 4), '.') - 1) AS "keyId"
       FROM "environmentVariables" LIMIT 1`,
    )
    const watched = runScript('reseal', '--to', String(keyId), '--persist-to', state)
    expect(watched).toMatch(
      /^\d+ values are sealed with \S+, 0 with older keys\nThe older keys can be taken out/,
    )
    expect(() => runScript('reseal', '--persist-to', state)).toThrow(/--to/)
  })

  it('an export has all of an organization but its secrets, and a deletion leaves nothing of it', async () => {
    const [{ id: organizationId = '' } = {}] = executeSql(
      target,
      `SELECT "id" FROM "organizations" WHERE "name" = 'Globex'`,
    )
    const output = join(files, 'globex')
    const tables = executeSql(
      target,
      `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND instr("sql", 'organizationId') > 0`,
    ).map(({ name }) => String(name))
    /** The rows of each table: those of the organization, or those of others. */
    const countOf = (operator: '=' | '<>') => {
      const counts = tables.map(
        (table) =>
          `(SELECT count(*) FROM "${table}" WHERE "organizationId" ${operator} '${organizationId}') AS "${table}"`,
      )
      return executeSql(target, `SELECT ${counts.join(', ')}`)[0] ?? {}
    }
    const [own, others] = [countOf('='), countOf('<>')]

    runScript('organization', 'export', String(organizationId), '--output', output, '--persist-to', state)
    for (const table of tables) {
      const file = join(output, `${table}.jsonl`)
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      expect([table, lines.length]).toEqual([table, own[table]])
      expect(lines.join('\n')).not.toMatch(/sealed|"hash"/)
    }
    const { sessionId } = readDemo(state).otherOrganization
    for (const path of ['a.txt', 'src/b.txt']) {
      expect(readFileSync(join(output, 'files', sessionId, path), 'utf8')).toBe(`The content of ${path}`)
    }
    expect(readFileSync(join(output, 'pictures', 'grace'), 'utf8')).toBe('GIF89a')

    const remove = (name: string) =>
      runScript('organization', 'delete', String(organizationId), '--name', name, '--persist-to', state)
    expect(() => remove('Acme')).toThrow(/--name/)
    expect(remove('Globex')).toContain('0 tables have rows of the organization')
    expect(new Set(Object.values(countOf('=')))).toEqual(new Set([0]))
    expect(countOf('<>')).toEqual(others)
    expect(() => remove('Globex')).toThrow(/no organization/)
  })
})
