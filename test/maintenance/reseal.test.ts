import { createExecutionContext } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { parseKeyRing } from '../../src/crypto/key-ring.ts'
import { ProjectEnvironments } from '../../src/index.ts'
import { resealValues } from '../../src/maintenance/reseal.ts'
import { request } from '../support/api.ts'
import { databaseWith, failingDatabase, interruptedDatabase } from '../support/bindings.ts'
import { deployed, env, ofDatabase } from '../support/env.ts'
import { Receiver } from '../support/receiver.ts'
import { tick } from '../support/tick.ts'
import { Workspace } from '../support/workspace.ts'

const OLD = env.ENCRYPTION_KEYS ?? ''
const OLD_ID = parseKeyRing(OLD).newest
const NEW = 'new-1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='
const BOTH = `${NEW},${OLD}`

const read = (workspace: Workspace, projectId: string, ENCRYPTION_KEYS: string) =>
  new ProjectEnvironments(createExecutionContext(), deployed({ ...env, ENCRYPTION_KEYS })).read(
    workspace.organizationId,
    projectId,
  )

const keyIdsOf = async (workspace: Workspace) =>
  (await workspace.dump('environmentVariables')).map(({ sealedValue }) => String(sealedValue).split('.')[1])

async function withVariables(count: number) {
  const workspace = await Workspace.create()
  const projectId = await workspace.addProject()
  const names = Array.from({ length: count }, (_, index) => `NAME_${index}`)
  for (const name of names) await workspace.addVariable(projectId, name, `value of ${name}`)
  const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]))
  return { workspace, projectId, values, key: await workspace.addKey() }
}

describe('resealing', () => {
  it('encrypts the values of an older key with the newest one, so that the older key can be removed', async () => {
    const { workspace, projectId, values } = await withVariables(65)
    expect(new Set(await keyIdsOf(workspace))).toEqual(new Set([OLD_ID]))
    await tick({ ...env, ENCRYPTION_KEYS: BOTH }, new Date())
    expect(new Set(await keyIdsOf(workspace))).toEqual(new Set(['new-1']))
    expect(await read(workspace, projectId, NEW)).toEqual(values)
    await expect(read(workspace, projectId, OLD)).rejects.toThrow('"new-1" is not in ENCRYPTION_KEYS')
  })

  it('does nothing with one key or none', async () => {
    const { workspace } = await withVariables(2)
    const before = await workspace.dump('environmentVariables')
    for (const ENCRYPTION_KEYS of [OLD, '']) await tick({ ...env, ENCRYPTION_KEYS }, new Date())
    expect(await workspace.dump('environmentVariables')).toEqual(before)
  })

  it('continues after a failure', async () => {
    const { workspace, projectId, values } = await withVariables(45)
    let calls = 0
    const DB = databaseWith(async (statements) => {
      const results = await env.DB.batch(statements)
      if (++calls > 8) throw new Error('D1_ERROR: Network connection lost.')
      return results
    })
    const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    for (let count = 0; count < 12 && (await keyIdsOf(workspace)).includes(OLD_ID); count++) {
      calls = 0
      await tick({ ...env, DB, ENCRYPTION_KEYS: BOTH }, new Date())
    }
    await tick({ ...env, ENCRYPTION_KEYS: BOTH }, new Date())
    errors.mockRestore()
    expect(await read(workspace, projectId, NEW)).toEqual(values)
  })

  it('keeps values that are set at the same time', async () => {
    const { workspace, projectId, key } = await withVariables(40)
    const environment = { ENCRYPTION_KEYS: BOTH }
    const set = (index: number) =>
      request('PUT', `/v1/projects/${projectId}/environment-variables/NAME_${index}`, {
        key,
        json: { value: `new value ${index}` },
        environment,
      })
    await Promise.all([
      ...Array.from({ length: 40 }, (_, index) => set(index)),
      tick({ ...env, ...environment }, new Date()),
      tick({ ...env, ...environment }, new Date()),
    ])
    const expected = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`NAME_${index}`, `new value ${index}`]),
    )
    expect(await read(workspace, projectId, BOTH)).toEqual(expected)
  })

  it('keeps a value that is set between the read of the old one and its update', async () => {
    const { workspace, projectId, key } = await withVariables(2)
    const DB = interruptedDatabase(async () => {
      const path = `/v1/projects/${projectId}/environment-variables/NAME_0`
      const environment = { ENCRYPTION_KEYS: BOTH }
      expect((await request('PUT', path, { key, json: { value: 'new' }, environment })).status).toBe(200)
    })
    await resealValues(ofDatabase({ ...env, DB, ENCRYPTION_KEYS: BOTH }), new Date())
    expect(await read(workspace, projectId, NEW)).toEqual({ NAME_0: 'new', NAME_1: 'value of NAME_1' })
  })

  it('skips values of a lost key and altered values, and reseals the others', async () => {
    const { workspace, projectId, values } = await withVariables(30)
    const lost = await withVariables(1)
    await env.DB.prepare(
      'UPDATE "environmentVariables" SET "sealedValue" = replace("sealedValue", ?, ?) WHERE "organizationId" = ?',
    )
      .bind(`.${OLD_ID}.`, '.lost-1.', lost.workspace.organizationId)
      .run()
    const altered = await withVariables(1)
    await env.DB.prepare(
      'UPDATE "environmentVariables" SET "sealedValue" = "sealedValue" || ? WHERE "organizationId" = ?',
    )
      .bind('AAAA', altered.workspace.organizationId)
      .run()
    const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await tick({ ...env, ENCRYPTION_KEYS: BOTH }, new Date())
    expect(JSON.stringify(errors.mock.calls)).not.toContain('value of')
    errors.mockRestore()
    expect(await read(workspace, projectId, NEW)).toEqual(values)
    expect(await keyIdsOf(lost.workspace)).toEqual(['lost-1'])
    expect(await keyIdsOf(altered.workspace)).toEqual([OLD_ID])
    await expect(read(lost.workspace, lost.projectId, BOTH)).rejects.toThrow('"lost-1" is not in')
  })

  it('includes the current and the previous secret of run endpoints', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const url = 'https://hooks.example.com/runs'
    await request('PUT', '/v1/run-endpoint', { key, json: { url } })
    await request('POST', '/v1/run-endpoint/rotate', { key, json: {} })
    await tick({ ...env, ENCRYPTION_KEYS: BOTH }, new Date())
    const [endpoint] = await workspace.dump('runEndpoints')
    expect([endpoint?.sealedSecret, endpoint?.previousSealedSecret]).toEqual([
      expect.stringMatching(/^v1\.new-1\./),
      expect.stringMatching(/^v1\.new-1\./),
    ])
  })

  it('includes the URL and the secrets of event endpoints, which can be decrypted then', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const receiver = new Receiver()
    const path = `/v1/event-endpoints/${(await workspace.addEventEndpoint({ url: receiver.url })).id}`
    const { body: rotated } = await request('POST', `${path}/rotate`, { key, json: {} })
    const { id: chat } = await workspace.addEventEndpoint({ url: receiver.url, format: 'text' })
    await tick({ ...env, ENCRYPTION_KEYS: BOTH }, new Date())
    const sealedWithNew = expect.stringMatching(/^v1\.new-1\./)
    const columns = (row: Record<string, unknown>) => [row.sealedUrl, row.sealedSecret, row.previousSealedSecret]
    const rows = await workspace.dump('eventEndpoints')
    expect(rows.map(({ id, ...row }) => [id === chat, ...columns(row)])).toEqual([
      [false, sealedWithNew, sealedWithNew, sealedWithNew],
      [true, sealedWithNew, null, null],
    ])
    const { body } = await request('POST', `${path}/test`, { key, environment: { ENCRYPTION_KEYS: NEW } })
    expect(body).toMatchObject({ status: 200, error: null })
    const [received] = await receiver.received()
    new Webhook(rotated.secret).verify(String(received?.body), { ...received?.headers })
  })

  it('is repeated by the next tick if the database fails', async () => {
    const { workspace } = await withVariables(1)
    const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const DB = failingDatabase(new Error('D1_ERROR: Network connection lost.'))
    await tick({ ...env, DB, ENCRYPTION_KEYS: BOTH }, new Date())
    errors.mockRestore()
    expect(await keyIdsOf(workspace)).toEqual([OLD_ID])
    await tick({ ...env, ENCRYPTION_KEYS: BOTH }, new Date())
    expect(await keyIdsOf(workspace)).toEqual(['new-1'])
  })
})
