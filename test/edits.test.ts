/** Edits that change nothing, and `ETag`, `If-Match` and `If-None-Match` on everything that several clients may edit. */

import { v7 as newUuid } from 'uuid'
import { describe, expect, it, vi } from 'vitest'
import { loadOperations } from '../src/operations.ts'
import { request } from './support/api.ts'
import { env } from './support/env.ts'
import { dumpStores, exampleList, keyFor, send, type Variation } from './support/examples.ts'
import { skillOf } from './support/skills.ts'
import { tick } from './support/tick.ts'
import { Workspace } from './support/workspace.ts'

type Edit = readonly [
  operationId: string,
  method: 'PUT' | 'PATCH' | 'DELETE' | 'POST',
  json?: object,
  /** Below the path of the resource. */
  subPath?: string,
]

interface Editable {
  readonly what: string
  readonly table: string
  /** @returns the request that creates it: a PUT at its own path, or a POST. */
  prepare(workspace: Workspace): Promise<readonly [method: 'PUT' | 'POST', path: string, json: object]>
  readonly edits: readonly Edit[]
  /** An edit before those that are tried. */
  readonly earlier?: Edit
  /** True if a GET never answers 304. */
  readonly isAlwaysSent?: true
}

const PROJECT = 'home'

function platformResource(what: string, name: string, table: string, path: string, own: object = {}): Editable {
  const isArchivable = ['Project', 'Agent'].includes(name)
  const remove: Edit = [`delete${name}`, 'DELETE']
  const archive: Edit = [`update${name}`, 'PATCH', { archived: true }]
  return {
    what,
    table,
    async prepare(workspace) {
      await workspace.addProject(PROJECT)
      return ['PUT', `/v1/${path}/${newUuid()}`, { name: 'First', ...own }]
    },
    edits: [[`put${name}`, 'PUT', { name: 'Second', ...own }], ...(isArchivable ? [archive] : []), remove],
  }
}

function schedule(parent: 'Project' | 'Agent', own: object): Editable {
  const isProject = parent === 'Project'
  return {
    what: `${parent.toLowerCase()} schedule of a POST`,
    table: 'schedules',
    async prepare(workspace) {
      const id = await (isProject ? workspace.addProject() : workspace.addAgent())
      return ['POST', `/v1/${parent.toLowerCase()}s/${id}/schedules`, { cron: '0 6 * * *', ...own }]
    },
    edits: [
      [`update${parent}Schedule`, 'PATCH', { cron: '0 7 * * *', ...own }],
      // This one reads the schedule first.
      [`update${parent}Schedule`, 'PATCH', { cron: '0 8 * * *', enabled: true }],
      [`delete${parent}Schedule`, 'DELETE'],
    ],
    isAlwaysSent: true,
  }
}

function declaredSchedule(parent: 'Project' | 'Agent', own: object): Editable {
  const isProject = parent === 'Project'
  return {
    what: `${parent.toLowerCase()} schedule of a PUT`,
    table: 'schedules',
    async prepare(workspace) {
      const id = await (isProject ? workspace.addProject() : workspace.addAgent())
      const path = `/v1/${parent.toLowerCase()}s/${id}/schedules/${newUuid()}`
      return ['PUT', path, { cron: '0 6 * * *', ...own }]
    },
    edits: [
      [`put${parent}Schedule`, 'PUT', { cron: '0 7 * * *', payload: { branch: 'main' }, ...own }],
      [`put${parent}Schedule`, 'PUT', { runAt: '2999-01-01T00:00:00Z', ...own }],
      [`update${parent}Schedule`, 'PATCH', { payload: [null] }],
      [`delete${parent}Schedule`, 'DELETE'],
    ],
    isAlwaysSent: true,
  }
}

const EDITABLES: readonly Editable[] = [
  platformResource('project', 'Project', 'projects', 'projects'),
  platformResource('agent', 'Agent', 'agents', 'agents'),
  platformResource('user', 'User', 'users', 'users'),
  platformResource('session', 'Session', 'sessions', 'sessions', { projectId: PROJECT }),
  platformResource('pull request', 'PullRequest', 'pullRequests', 'pull-requests', { projectId: PROJECT }),
  schedule('Project', { timezone: 'Europe/Paris' }),
  schedule('Agent', {}),
  declaredSchedule('Project', { timezone: 'Europe/Paris' }),
  declaredSchedule('Agent', {}),
  {
    what: 'skill',
    table: 'skills',
    prepare: async () => ['POST', '/v1/skills', skillOf()],
    earlier: ['updateSkill', 'PATCH', skillOf({ files: [] })],
    edits: [
      ['updateSkill', 'PATCH', skillOf({ description: 'New.' })],
      ['updateSkill', 'PATCH', skillOf({ files: [{ filename: 'other.md', content: '##' }] })],
      ['publishSkillVersion', 'POST', { version: 1 }, '/publish'],
      ['deleteSkill', 'DELETE'],
    ],
  },
  {
    what: 'sign-in rule',
    table: 'signInRules',
    prepare: async () => [
      'POST',
      '/v1/sign-in-rules',
      { issuer: 'https://login.example.com', claim: 'groups', value: 'engineers', role: 'viewer' },
    ],
    edits: [
      ['updateSignInRule', 'PATCH', { value: 'admins' }],
      ['deleteSignInRule', 'DELETE'],
    ],
  },
]

async function withResource({ prepare, table, earlier }: Editable) {
  const workspace = await Workspace.create()
  // A user's own key would be revoked with its user.
  const key = await workspace.addKey({ userId: null })
  const [method, collection, json] = await prepare(workspace)
  const created = await request(method, collection, { key, json })
  const path = created.headers.get('Location') ?? ''
  const changed = earlier && (await request(earlier[1], path, { key, json: earlier[2] }))
  return {
    workspace,
    key,
    path,
    created,
    tag: (changed ?? created).headers.get('ETag') ?? '',
    get: (ifNoneMatch?: string) =>
      request('GET', path, {
        key,
        headers: ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch },
      }),
    /** Sends the edit with the headers. */
    edit: ([, editMethod, change, subPath = '']: Edit, headers: Record<string, string> = {}) =>
      request(editMethod, path + subPath, { key, headers, ...(change && { json: change }) }),
    rows: async () => [await workspace.dump(table), await workspace.dump('skillVersions')],
  }
}

const ifMatch = (value: string) => ({ 'If-Match': value })
const ifNoneMatch = (value: string) => ({ 'If-None-Match': value })
const statusesOf = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status)

it('has every operation that takes If-Match, and no other', async () => {
  const taking = (await loadOperations())
    .filter(({ contract }) => 'If-Match' in (contract.headers?.shape ?? {}))
    .map(({ contract }) => contract.operationId)
  const tried = EDITABLES.flatMap(({ edits }) => edits.map(([operationId]) => operationId))
  expect(taking.sort()).toEqual([...new Set(tried)].sort())
})

/** The same again is a change, because what is stored cannot be compared with what is sent. */
const INCOMPARABLE: Readonly<Record<string, string>> = {
  putEnvironmentVariable: 'The value is encrypted, and the same value is another text each time.',
  putProfilePicture: 'The picture is an object in R2, which would have to be read.',
  putSessionFile: 'The content is an object in R2, which would have to be read.',
  'updateEventEndpoint: it changes everything': 'The URL is encrypted, as the value of a variable is.',
}

const AS_IT_IS: Variation = { apply: async (_, example) => example }
const repeatable = exampleList
  .filter(
    ({ contract, operationId }) => ['PUT', 'PATCH'].includes(contract.method) || operationId === 'rewindEventEndpoint',
  )
  .flatMap(({ operationId, row }) =>
    Object.entries({ 'as it is': AS_IT_IS, ...row.variations })
      .filter(([, { status = 200 }]) => status < 400)
      .map(([name, variation]) => ({ operationId, row, name, variation })),
  )

describe('an edit that sets what is there already', () => {
  it.each(repeatable)('changes nothing: $operationId, $name', async ({ operationId, row, name, variation }) => {
    const workspace = await Workspace.create()
    const example = await variation.apply(workspace, await row.prepare(workspace))
    const key = await keyFor(workspace, example)
    const first = await send(operationId, example, key)
    // A change is noticed by its time, too.
    vi.setSystemTime(Date.now() + 1000)
    const before = await dumpStores()
    const { status, headers, body } = await send(operationId, example, key)
    expect([first.status < 300, status]).toEqual([true, 200])
    if (operationId in INCOMPARABLE || `${operationId}: ${name}` in INCOMPARABLE) {
      return expect((await dumpStores()).auditEvents).not.toEqual(before.auditEvents)
    }
    expect(await dumpStores()).toEqual(before)
    expect(headers.get('ETag')).toBe(first.headers.get('ETag'))
    // Only the first response to a PUT of the run endpoint has its secret, and a pin is moved once.
    const own = { ...('secret' in body && { secret: null }), ...('updated' in body && { updated: false }) }
    expect(body).toEqual({ ...first.body, ...own })
  })
})

describe.each(EDITABLES)('the ETag of a $what', (editable) => {
  const changes = editable.edits.filter(([, method]) => method !== 'DELETE')

  it('is in the response to its creation, to a GET and to each edit, and changes with each edit', async () => {
    const { created, tag, get, edit } = await withResource(editable)
    expect([created.status, tag]).toEqual([201, expect.stringMatching(/^"[0-9a-f-]{16,36}"$/)])
    const tags = [tag]
    for (const change of changes) {
      expect((await get()).headers.get('ETag')).toBe(tags.at(-1))
      const answer = await edit(change)
      expect([answer.status, answer.headers.has('Location')]).toEqual([200, false])
      tags.push(answer.headers.get('ETag') ?? '')
    }
    expect((await get()).headers.get('ETag')).toBe(tags.at(-1))
    expect(new Set(tags).size).toBe(1 + changes.length)
  })

  it(editable.isAlwaysSent ? 'does not shorten a GET' : 'makes a GET 304 in If-None-Match', async () => {
    const { tag, get, edit } = await withResource(editable)
    const status = editable.isAlwaysSent ? 200 : 304
    for (const header of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const answer = await get(header)
      expect([answer.status, answer.headers.get('ETag')]).toEqual([status, tag])
    }
    for (const header of ['"other"', tag.slice(1), '']) expect((await get(header)).status).toBe(200)
    await edit(changes[0] as Edit)
    expect((await get(tag)).status).toBe(200)
  })
})

const edits = EDITABLES.flatMap((editable) =>
  editable.edits.map((edit) => ({
    editable,
    edit,
    what: editable.what,
    how: `${edit[1]} ${JSON.stringify(edit[2] ?? {})}`,
  })),
)

describe.each(edits)('If-Match of a $what: $how', ({ editable, edit: change }) => {
  it.each<[string, (tag: string) => string]>([
    ['the current ETag', (tag) => tag],
    ['a list with the current ETag', (tag) => `"other",${tag} , "0"`],
    ['the current ETag with the prefix of a proxy', (tag) => `W/${tag}`],
    ['any', () => ' * '],
  ])('allows the edit by %s', async (_, header) => {
    const { tag, edit, rows } = await withResource(editable)
    const before = await rows()
    expect((await edit(change, ifMatch(header(tag)))).status).toBe(200)
    expect(await rows()).not.toEqual(before)
  })

  it('is 412 for other ETags, and nothing changes', async () => {
    const { tag, edit, rows } = await withResource(editable)
    const before = await rows()
    const others = [
      '"other"',
      '"", "0", "*", "other"',
      'W/"other"',
      // A part of the current one, and more than it.
      `${tag.slice(0, -2)}"`,
      `"x${tag.slice(1)}`,
    ]
    for (const header of others) {
      const answer = await edit(change, ifMatch(header))
      expect([header, answer.status, answer.headers.get('Error-Code'), answer.body.error]).toEqual([
        header,
        412,
        'etag_mismatch',
        expect.stringContaining('If-Match does not have the current ETag.'),
      ])
    }
    expect(await rows()).toEqual(before)
  })

  it('is 412 for the ETag of before another edit', async () => {
    const { tag, edit, rows } = await withResource(editable)
    const current = (await edit(editable.edits[0] as Edit, ifMatch(tag))).headers.get('ETag') ?? ''
    const before = await rows()
    expect((await edit(change, ifMatch(tag))).status).toBe(412)
    expect(await rows()).toEqual(before)
    expect((await edit(change, ifMatch(current))).status).toBe(200)
  })

  it('is 400 for what is not a list of ETags', async () => {
    const { edit, rows } = await withResource(editable)
    const before = await rows()
    for (const header of ['', 'x', '"', '"a" "b"', 'W/', 'w/"a"', '* , "a"', '"a", *', "'a'"]) {
      const { status, body } = await edit(change, ifMatch(header))
      expect([header, status, body.error]).toEqual([
        header,
        400,
        expect.stringMatching(/^If-Match is not a list of ETags; got /),
      ])
    }
    expect(await rows()).toEqual(before)
  })

  it('lets one of several simultaneous edits succeed', async () => {
    const { tag, edit } = await withResource(editable)
    const answers = await Promise.all(Array.from({ length: 12 }, () => edit(change, ifMatch(tag))))
    const lost = statusesOf(answers).filter((status) => status !== 200)
    expect(lost).toHaveLength(11)
    // After a deletion there is nothing left; an edit that reads first may find that the schedule has changed.
    const expected: Record<string, number[]> = {
      PUT: [412],
      PATCH: [412, 409],
      DELETE: [404, 410],
      POST: [412],
    }
    expect(expected[change[1]]).toEqual(expect.arrayContaining([...new Set(lost)]))
  })
})

const puts = EDITABLES.filter(({ edits: [first] }) => first?.[1] === 'PUT')

describe.each(puts)('PUT of a $what', (editable) => {
  const [change] = editable.edits as readonly [Edit, ...Edit[]]

  /** A resource that does not exist. */
  async function withoutResource() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const [, path, json] = await editable.prepare(workspace)
    const rows = () => workspace.dump(editable.table)
    const before = (await rows()).length
    return {
      put: (headers = {}) => request('PUT', path, { key, json, headers }),
      path,
      added: async () => (await rows()).length - before,
    }
  }

  it('is 201 with Location if it creates, and 200 if it changes, also at the same moment', async () => {
    const { put, path, added } = await withoutResource()
    const answers = await Promise.all(Array.from({ length: 12 }, () => put()))
    expect(statusesOf(answers).sort()).toEqual([...Array(11).fill(200), 201])
    for (const { status, headers } of answers) expect(headers.get('Location')).toBe(status === 201 ? path : null)
    expect(await added()).toBe(1)
  })

  it('only creates with If-None-Match: *', async () => {
    const { put, added } = await withoutResource()
    const answers = await Promise.all(Array.from({ length: 12 }, () => put(ifNoneMatch('*'))))
    expect(statusesOf(answers).sort()).toEqual([201, ...Array(11).fill(412)])
    const refused = answers.find(({ status }) => status === 412)
    expect(refused?.headers.get('Error-Code')).toBe('already_exists')
    expect(refused?.body.error).toBe(
      'The resource exists already, and If-None-Match is "*". Leave the header out to change it.',
    )
    expect(await added()).toBe(1)
  })

  it('is 400 for other values of If-None-Match', async () => {
    const { put, added } = await withoutResource()
    for (const value of ['"a"', '', 'x', '*, "a"']) {
      const { status, body } = await put(ifNoneMatch(value))
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^If-None-Match is not "\*"; got /)])
    }
    expect(await added()).toBe(0)
  })

  it('only changes with If-Match: 412 if it does not exist', async () => {
    const { put, added } = await withoutResource()
    for (const value of ['*', '"a"', '"0"']) expect((await put(ifMatch(value))).status).toBe(412)
    expect(await added()).toBe(0)
  })

  it('is 410 for a deleted one, whatever the headers', async () => {
    const { edit } = await withResource(editable)
    await edit(['', 'DELETE'])
    for (const headers of [ifMatch('*'), ifMatch('"a"'), ifNoneMatch('*')]) {
      expect((await edit(change, headers)).status).toBe(410)
    }
  })
})

describe('the ETag of a schedule', () => {
  it('does not change when a tick fires it', async () => {
    const editable = EDITABLES.find(({ what }) => what === 'agent schedule of a POST') as Editable
    const { workspace, tag, get, edit } = await withResource(editable)
    await tick(env, new Date(Date.now() + 2 * 86_400_000))
    const answer = await get()
    expect([answer.body.lastRunAt === null, answer.headers.get('ETag')]).toEqual([false, tag])
    expect(await workspace.dump('runs')).not.toEqual([])
    expect((await edit(editable.edits[0] as Edit, ifMatch(tag))).status).toBe(200)
  })

  it('is in the response to a repeated creation, as it is now', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const path = `/v1/agents/${await workspace.addAgent()}/schedules`
    const create = () => request('POST', path, { key, json: { cron: '@daily' }, headers: { 'Idempotency-Key': 'one' } })
    const { body, headers } = await create()
    expect((await create()).headers.get('ETag')).toBe(headers.get('ETag'))
    const changed = await request('PATCH', `${path}/${body.id}`, { key, json: { enabled: false } })
    expect((await create()).headers.get('ETag')).toBe(changed.headers.get('ETag'))
  })
})

it('a resource from before there were revisions has an ETag', async () => {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  await env.DB.prepare(
    `INSERT INTO "projects" ("organizationId", "id", "name", "createdAt", "updatedAt") VALUES (?1, 'old', 'Old', ?2, ?2)`,
  )
    .bind(workspace.organizationId, '2026-03-02T09:15:00.000Z')
    .run()
  expect((await request('GET', '/v1/projects/old', { key })).headers.get('ETag')).toBe('"0"')
  const rename = () => request('PUT', '/v1/projects/old', { key, json: { name: 'New' }, headers: ifMatch('"0"') })
  expect(statusesOf([await rename(), await rename()])).toEqual([200, 412])
})
