import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { PREFIX, type RequestOptions, request } from './support/api.ts'
import { failingDatabase, watchedDatabase } from './support/bindings.ts'
import { Workspace } from './support/workspace.ts'

async function withVariable(name = 'DATABASE_URL') {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const projectId = await workspace.addProject()
  await workspace.addVariable(projectId, name)
  return { workspace, key, projectId }
}

function deleteVariable(projectId: string, name: string, options: RequestOptions) {
  const [project, variable] = [projectId, name].map(encodeURIComponent)
  return request('DELETE', `/v1/projects/${project}/environment-variables/${variable}`, options)
}

/** What is stored, as `project/key`. */
async function variables(workspace: Workspace): Promise<string[]> {
  const rows = await workspace.dump('environmentVariables')
  return rows.map((row) => `${row.projectId}/${row.key}`).sort()
}

describe('deleteEnvironmentVariable', () => {
  it('deletes the variable, and no other', async () => {
    const { workspace, key, projectId } = await withVariable()
    const otherProject = await workspace.addProject()
    await workspace.addVariable(projectId, 'DATABASE_URL_2')
    await workspace.addVariable(otherProject, 'DATABASE_URL')
    const elsewhere = await Workspace.create()
    await elsewhere.addProject(projectId)
    await elsewhere.addVariable(projectId, 'DATABASE_URL')

    const answer = await deleteVariable(projectId, 'DATABASE_URL', { key })
    expect([answer.status, answer.body]).toEqual([200, { deleted: true, key: 'DATABASE_URL' }])
    expect(await variables(workspace)).toEqual(
      [`${projectId}/DATABASE_URL_2`, `${otherProject}/DATABASE_URL`].sort(),
    )
    expect(await variables(elsewhere)).toEqual([`${projectId}/DATABASE_URL`])
  })

  it('answers under the prefix', async () => {
    const { key, projectId } = await withVariable()
    const path = `${PREFIX}/v1/projects/${projectId}/environment-variables/DATABASE_URL`
    const answer = await request('DELETE', path, { key })
    expect([answer.status, answer.body]).toEqual([200, { deleted: true, key: 'DATABASE_URL' }])
  })

  it('deletes once: then it is 404, also of two at the same time', async () => {
    const { workspace, key, projectId } = await withVariable()
    const both = await Promise.all([1, 2].map(() => deleteVariable(projectId, 'DATABASE_URL', { key })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(404)
    await workspace.addVariable(projectId, 'DATABASE_URL')
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(200)
  })

  it('costs one trip, which neither selects nor answers with the value', async () => {
    const { workspace, key, projectId } = await withVariable()
    await deleteVariable(projectId, 'MISSING', { key })
    await workspace.addVariable(projectId, 'TOKEN', 'plain-text-value')
    const rows = await workspace.dump('environmentVariables')
    const sealed = String(rows.find((row) => row.key === 'TOKEN')?.sealedValue)
    const use = watchedDatabase()
    const answer = await deleteVariable(projectId, 'TOKEN', { key, environment: { DB: use.DB } })
    expect([answer.status, use.calls]).toEqual([200, 1])
    const text = JSON.stringify([answer.body, ...answer.headers])
    for (const secret of ['plain-text-value', sealed, sealed.slice(-20)]) expect(text).not.toContain(secret)
    for (const { sql } of use.statements) {
      expect(sql).not.toContain('sealedValue')
      expect(sql).not.toContain('*')
    }
  })

  it('does not open the value: it works without the encryption keys', async () => {
    const { key, projectId } = await withVariable()
    const environment = { ENCRYPTION_KEYS: '' }
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key, environment })).status).toBe(200)
  })

  it('answers 400 if the key lacks the scope, and needs no user', async () => {
    const { workspace, projectId } = await withVariable()
    const withoutScope = await workspace.addKey({ scopes: ['pins:write'] })
    const answer = await deleteVariable(projectId, 'DATABASE_URL', { key: withoutScope })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      'This API key lacks the scope "environment-variables:write".',
    ])
    expect(await variables(workspace)).toHaveLength(1)
    const withoutUser = await workspace.addKey({ userId: null })
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key: withoutUser })).status).toBe(200)
  })

  it('answers 403 if the key is limited to other projects', async () => {
    const { workspace, projectId } = await withVariable()
    const other = await workspace.addProject()
    for (const projectIds of [[], [other], [other, projectId.slice(0, -1)]]) {
      const key = await workspace.addKey({ projectIds })
      expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(403)
    }
    expect(await variables(workspace)).toHaveLength(1)
    const key = await workspace.addKey({ projectIds: [other, projectId] })
    expect((await deleteVariable(projectId.toUpperCase(), 'DATABASE_URL', { key })).status).toBe(200)
  })

  it('answers 404 for a project that the organization does not have', async () => {
    const { key } = await withVariable()
    const elsewhere = await withVariable()
    const nobodys = await deleteVariable(crypto.randomUUID(), 'DATABASE_URL', { key })
    const others = await deleteVariable(elsewhere.projectId, 'DATABASE_URL', { key })
    expect([nobodys.status, others.status]).toEqual([404, 404])
    expect(others.body).toEqual(nobodys.body)
    expect(await variables(elsewhere.workspace)).toHaveLength(1)
  })

  it('answers 404 for a variable that the project does not have', async () => {
    const { workspace, key, projectId } = await withVariable()
    const other = await workspace.addProject()
    const missing = await deleteVariable(projectId, 'MISSING', { key })
    expect([missing.status, missing.body.error]).toEqual([404, expect.stringMatching(/^key: /)])
    expect((await deleteVariable(other, 'DATABASE_URL', { key })).status).toBe(404)
    expect(await variables(workspace)).toHaveLength(1)
  })

  it('answers 409 if the project is archived, and keeps the variable', async () => {
    const { workspace, key, projectId } = await withVariable()
    await workspace.archiveProject(projectId)
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(409)
    expect(await variables(workspace)).toEqual([`${projectId}/DATABASE_URL`])
    expect((await deleteVariable(projectId, 'MISSING', { key })).status).toBe(404)
  })

  it.each(['D1_ERROR: no such table: environmentVariables: SQLITE_ERROR', 'D1_ERROR: D1 DB is overloaded.'])(
    'answers 500 in a constant sentence for "%s"',
    async (message) => {
      const { workspace, key, projectId } = await withVariable()
      const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
      const DB = failingDatabase(new Error(message))
      const answer = await deleteVariable(projectId, 'DATABASE_URL', { key, environment: { DB } })
      logged.mockRestore()
      expect([answer.status, answer.body.error]).toEqual([500, expect.not.stringContaining('D1')])
      expect(await variables(workspace)).toHaveLength(1)
    },
  )
})

describe('key', () => {
  it.each(['A', '_', '__', 'a1', 'PATH_2', '__proto__', 'constructor'])('takes %s', async (name) => {
    const { key, projectId } = await withVariable(name)
    const answer = await deleteVariable(projectId, name, { key })
    expect([answer.status, answer.body]).toEqual([200, { deleted: true, key: name }])
  })

  it.each([
    '1A',
    '0',
    'A-B',
    '-',
    'A.B',
    'A B',
    ' A',
    'A ',
    'A\n',
    'A\0',
    'A/B',
    '%',
    '\u00c4',
    '\uff21',
    '\u0661',
    '\u{1f511}',
  ])('refuses %j', async (name) => {
    const { workspace, key, projectId } = await withVariable()
    const answer = await deleteVariable(projectId, name, { key })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^key: /)])
    expect(await variables(workspace)).toHaveLength(1)
  })

  it('is no path without it', async () => {
    const { key, projectId } = await withVariable()
    expect((await deleteVariable(projectId, '', { key })).status).toBe(404)
  })

  it('has at most 255 characters', async () => {
    const longest = 'x'.repeat(255)
    const { key, projectId } = await withVariable(longest)
    const tooLong = await deleteVariable(projectId, `${longest}x`, { key })
    expect([tooLong.status, tooLong.body.error]).toEqual([400, expect.stringMatching(/^key: /)])
    expect((await deleteVariable(projectId, longest, { key })).body).toEqual({ deleted: true, key: longest })
  })

  it('counts the case', async () => {
    const { workspace, key, projectId } = await withVariable('Token')
    for (const name of ['token', 'TOKEN']) {
      expect((await deleteVariable(projectId, name, { key })).status).toBe(404)
    }
    await workspace.addVariable(projectId, 'TOKEN')
    expect((await deleteVariable(projectId, 'TOKEN', { key })).body.key).toBe('TOKEN')
    expect(await variables(workspace)).toEqual([`${projectId}/Token`])
  })
})

describe('projectId', () => {
  it('does not count the case of a UUID, and counts that of any other id', async () => {
    const { workspace, key, projectId } = await withVariable()
    expect((await deleteVariable(projectId.toUpperCase(), 'DATABASE_URL', { key })).status).toBe(200)
    await workspace.addProject('Website')
    await workspace.addVariable('Website', 'KEY')
    expect((await deleteVariable('website', 'KEY', { key })).status).toBe(404)
    expect((await deleteVariable('Website', 'KEY', { key })).status).toBe(200)
  })

  it('has 1 to 255 code points', async () => {
    const { workspace, key } = await withVariable()
    for (const character of ['x', '\u{1f600}']) {
      const longest = character.repeat(255)
      await workspace.addProject(longest)
      await workspace.addVariable(longest, 'KEY')
      expect((await deleteVariable(longest, 'KEY', { key })).status).toBe(200)
      const answer = await deleteVariable(character.repeat(256), 'KEY', { key })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^projectId: /)])
    }
    expect((await deleteVariable('', 'KEY', { key })).status).toBe(404)
    expect((await deleteVariable('a\0b', 'KEY', { key })).status).toBe(400)
  })

  it('is any text that the contract allows, also in the list of a limited key', async () => {
    const awkward = ['%', '/', '\\', '"', "'", ' ', '.', '?', '#', '+', '\t', '\n', '\r', '\u2028', '\ufeff']
    const character = fc.oneof(
      fc.constantFrom(...awkward, '\u{1f600}', '\u0301', '\u0130', 'A', 'a', '0', '\uffff', '\u{10ffff}'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((text) => text !== '\0'),
    )
    const projectId = fc
      .oneof(
        fc.string({ unit: character, minLength: 1, maxLength: 6 }),
        fc.string({ unit: character, minLength: 1, maxLength: 255, size: 'max' }),
      )
      .filter((id) => id !== '.' && id !== '..')
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/)

    await fc.assert(
      fc.asyncProperty(projectId, name, async (id, variable) => {
        const workspace = await Workspace.create()
        await workspace.addProject(id)
        await workspace.addVariable(id, variable)
        const limitedToOther = await workspace.addKey({ projectIds: [`${id} `] })
        expect((await deleteVariable(id, variable, { key: limitedToOther })).status).toBe(403)
        const limited = await workspace.addKey({ projectIds: [id] })
        const answer = await deleteVariable(id, variable, { key: limited })
        expect([answer.status, answer.body]).toEqual([200, { deleted: true, key: variable }])
        expect(await variables(workspace)).toEqual([])
      }),
      { numRuns: 200, seed: 20260329, endOnFailure: true },
    )
  })
})

it('keeps no value in plain text', async () => {
  const workspace = await Workspace.create()
  const projectId = await workspace.addProject()
  await workspace.addVariable(projectId, 'TOKEN', 'plain-text-value')
  const { results } = await env.DB.prepare('SELECT * FROM "environmentVariables" WHERE "projectId" = ?')
    .bind(projectId)
    .all()
  expect(JSON.stringify(results)).not.toContain('plain-text-value')
  expect(results[0]?.sealedValue).toMatch(/^v1\.test\.[\w-]{16}\.[\w-]+$/)
})
