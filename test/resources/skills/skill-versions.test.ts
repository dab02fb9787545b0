/** Versions and archives of skills: what is pushed comes out again, whatever fails and however many push at the same time. */

import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ApiResponse, type RequestOptions, request } from '../../support/api.ts'
import { databaseWith, objectsWith, watchedDatabase } from '../../support/bindings.ts'
import { waitPast } from '../../support/clock.ts'
import { env } from '../../support/env.ts'
import { entryFile, filesOf, SCRIPT, type SentFile, skillOf } from '../../support/skills.ts'
import { tick } from '../../support/tick.ts'
import { now, Workspace } from '../../support/workspace.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const DATA_URL = 'data:application/octet-stream;base64,'
const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64')

type Change = Parameters<typeof skillOf>[0]

/** A workspace, and requests for its skills. */
async function withSkills(options: Parameters<Workspace['addKeyWithId']>[0] = {}) {
  const workspace = await Workspace.create()
  const { token: key, id: apiKeyId } = await workspace.addKeyWithId(options)
  const send = (method: string, path: string, more: RequestOptions = {}) =>
    request(method, `/v1/skills${path}`, { key, ...more })
  return {
    workspace,
    key,
    apiKeyId,
    send,
    create: (change: Change = {}, more: RequestOptions = {}) => send('POST', '', { json: skillOf(change), ...more }),
    update: (id: string, change: Change = {}, more: RequestOptions = {}) =>
      send('PATCH', `/${id}`, { json: skillOf(change), ...more }),
    retrieve: (id: string) => send('GET', `/${id}`),
    versions: async (id: string, query = '') => (await send('GET', `/${id}/versions${query}`)).body,
    version: async (id: string, version: number) => (await send('GET', `/${id}/versions/${version}`)).body,
    publish: (id: string, version: number, more: RequestOptions = {}) =>
      send('POST', `/${id}/publish`, { json: { version }, ...more }),
    archive: (id: string, query = '', more: RequestOptions = {}) => send('GET', `/${id}/archive${query}`, more),
    rows: async () => ({
      skills: await workspace.dump('skills'),
      versions: await workspace.dump('skillVersions'),
      contents: await workspace.dump('skillContents'),
    }),
  }
}

type Skills = Awaited<ReturnType<typeof withSkills>>

/** The keys of the organization's archives in R2. */
async function storedArchives({ workspace }: Skills): Promise<string[]> {
  const { objects } = await env.OBJECTS.list({ prefix: `skills/${workspace.organizationId}/` })
  return objects.map(({ key }) => key).sort()
}

/** Deletes the orphaned objects whose time has come in three hours. */
const sweep = () => tick(env, new Date(Date.now() + 3 * 3_600_000))

/**
 * Fails if the archive of a version is missing or has another digest, if a content is missing or unused, or if R2 has
 * an archive that neither a version nor the orphans list.
 */
async function expectWhole(skills: Skills): Promise<void> {
  const { versions, contents } = await skills.rows()
  const keys = versions.map(({ objectKey }) => String(objectKey))
  for (const { objectKey, digest, archiveBytes } of versions) {
    const object = await env.OBJECTS.get(String(objectKey))
    const bytes = new Uint8Array((await object?.arrayBuffer()) ?? [])
    expect([bytes.byteLength, hash('sha256', bytes)]).toEqual([archiveBytes, digest])
  }
  const used = versions.flatMap(({ skillId, files }) =>
    (JSON.parse(String(files)) as { sha256: string }[]).map((file) => `${skillId} ${file.sha256}`),
  )
  const stored = contents.map((row) => `${row.skillId} ${row.sha256}`)
  expect([...new Set(used)].sort()).toEqual(stored.sort())
  const { results } = await env.DB.prepare('SELECT "objectKey" FROM "orphanedObjects"').all()
  const orphaned = results.map(({ objectKey }) => objectKey)
  expect(keys.filter((key) => orphaned.includes(key))).toEqual([])
  const archives = await storedArchives(skills)
  expect(archives.filter((key) => !keys.includes(key) && !orphaned.includes(key))).toEqual([])
}

const bytesOf = ({ content, encoding = 'utf-8' }: SentFile) => Buffer.from(content, encoding)

const FILES: readonly SentFile[] = [
  { filename: 'a.bin', content: base64(0xff, 0xfe, 0, 1, 2, 0x80), encoding: 'base64' },
  { filename: 'bin/run.sh', content: '#!/bin/sh\necho\n', executable: true },
  { filename: 'bom.txt', content: '\ufeffbegins with a byte order mark' },
  { filename: 'crlf.txt', content: 'a\r\nb\rc\n' },
  { filename: 'empty.txt', content: '' },
  { filename: 'half.txt', content: base64(0xf0, 0x9f, 0x95), encoding: 'base64', executable: true },
  { filename: 'nul.txt', content: base64(0x61, 0, 0x62), encoding: 'base64' },
  {
    filename: 'url.txt',
    content: Buffer.from(`${DATA_URL}AAAA`).toString('base64'),
    encoding: 'base64',
  },
  { filename: 'ü/\u{1f550}.txt', content: 'text \u{1f550}', executable: false },
]

describe('what is pushed', () => {
  it('comes out of the version identical: bytes, encoding, executable bit, size and SHA-256', async () => {
    const { create, version } = await withSkills()
    const { id } = (await create({ files: FILES })).body
    const { files } = await version(id, 1)
    const expected = [entryFile(), ...FILES].map((file) => ({
      filename: file.filename,
      content: file.content,
      encoding: file.encoding ?? 'utf-8',
      executable: file.executable ?? false,
      sizeBytes: bytesOf(file).byteLength,
      sha256: hash('sha256', bytesOf(file)),
    }))
    expect(files).toEqual(expected)
  })

  it('comes out of the skill in its shape: text, or a data URL', async () => {
    const { create, retrieve } = await withSkills()
    const { id } = (await create({ files: FILES })).body
    const { body } = await retrieve(id)
    expect(Object.keys(body)).toEqual(['id', 'name', 'description', 'createdAt', 'updatedAt', 'files'])
    for (const file of body.files) expect(Object.keys(file)).toEqual(['id', 'filename', 'content'])
    const shown = Object.fromEntries(body.files.map((file: SentFile) => [file.filename, file.content]))
    for (const file of FILES) {
      const content = file.encoding === 'base64' ? DATA_URL + file.content : file.content
      expect(shown[file.filename]).toBe(content)
    }
  })

  it('is stored as text if base64 holds text', async () => {
    const { create, version, retrieve } = await withSkills()
    const content = Buffer.from('té\r\n').toString('base64')
    const { id } = (await create({ files: [{ filename: 'a', content, encoding: 'base64' }] })).body
    const [, file] = (await version(id, 1)).files
    expect([file.content, file.encoding]).toEqual(['té\r\n', 'utf-8'])
    expect((await retrieve(id)).body.files[1].content).toBe('té\r\n')
  })

  it('is pushed again unchanged from the version, and makes no other', async () => {
    const { create, version, versions, send } = await withSkills()
    const { id } = (await create({ files: FILES })).body
    const files = (await version(id, 1)).files.map(({ filename, content, encoding, executable }: SentFile) => ({
      filename,
      content,
      encoding,
      executable,
    }))
    expect((await send('PATCH', `/${id}`, { json: { files } })).status).toBe(200)
    expect((await versions(id)).items).toHaveLength(1)
  })

  it('has a SKILL.md in base64, with a byte order mark and CRLF', async () => {
    const { send } = await withSkills()
    const content = '\ufeff---\r\nname: windows\r\ndescription: >\r\n  In\r\n  lines.\r\n---\r\n# Notes\r\n'
    const file = {
      filename: 'SKILL.md',
      content: Buffer.from(content).toString('base64'),
      encoding: 'base64',
    }
    const { status, body } = await send('POST', '', { json: { files: [file] } })
    expect([status, body.name, body.description]).toEqual([201, 'windows', 'In lines.'])
    expect(body.files[0].content).toBe(content)
  })

  it.each<[string, string, RegExp]>([
    ['no front matter', '# Notes\n', /^SKILL\.md, line 1: front matter is missing; got "# Notes"; /],
    ['an empty file', '', /^SKILL\.md, line 1: front matter is missing; /],
    ['a line before it', '\n---\nname: a\n---\n', /^SKILL\.md, line 1: front matter is missing; /],
    ['no end', '---\nname: a\ndescription: a\n', /^SKILL\.md, line 1: front matter does not end; /],
    ['no name', '---\ndescription: a\n---\n', /^SKILL\.md, line 1: name is missing; /],
    ['no description', '---\nname: a\n---\n', /^SKILL\.md, line 1: description is missing; /],
    [
      'a wrong name',
      '---\n\n# the name\nname: A B\ndescription: a\n---\n',
      /^SKILL\.md, line 4: name has the wrong format; got "A B"; /,
    ],
    [
      'a name that is a number',
      '---\nname: 7\ndescription: a\n---\n',
      /^SKILL\.md, line 2: name is not a string; got 7; /,
    ],
    ['an empty description', '---\nname: a\ndescription: ""\n---\n', /^SKILL\.md, line 3: description is too short; /],
    [
      'a description of spaces',
      '---\nname: a\ndescription: "  "\n---\n',
      /^SKILL\.md, line 3: description is too short; /,
    ],
    [
      'a description that is too long',
      `---\nname: a\ndescription: ${'x'.repeat(1025)}\n---\n`,
      /^SKILL\.md, line 3: description is too long; got 1025 characters; /,
    ],
    ['a list', '---\n- name\n---\n', /^SKILL\.md, line 2: front matter is not a mapping; /],
    ['text', '---\nname\n---\n', /^SKILL\.md, line 2: front matter is not a mapping; /],
    [
      'a colon in a value',
      '---\nname: a\ndescription: b: c\n---\n',
      /^SKILL\.md, line 3: front matter is not valid YAML /,
    ],
    ['a tab', '---\nname: a\nlist:\n\t- b\n---\n', /^SKILL\.md, line 4: front matter is not valid YAML /],
    ['a key twice', '---\nname: a\nname: b\n---\n', /^SKILL\.md, line 3: front matter is not valid YAML /],
    ['an open quote', '---\nname: a\ndescription: "b\n---\n', /^SKILL\.md, line \d: front matter is not valid YAML /],
    [
      '16 KiB and more',
      `---\nname: a\n${'# x\n'.repeat(5000)}---\n`,
      /^SKILL\.md, line 1: front matter is too long or does not end; /,
    ],
  ])('is refused with the line of SKILL.md if that has %s', async (_, content, error) => {
    const skills = await withSkills()
    const { id } = (await skills.create()).body
    const before = await skills.rows()
    const json = { files: [{ filename: 'SKILL.md', content }] }
    for (const answer of [await skills.send('POST', '', { json }), await skills.send('PATCH', `/${id}`, { json })]) {
      expect([answer.status, answer.headers.get('Error-Code')]).toEqual([400, 'invalid_input'])
      expect(answer.body.error).toMatch(error)
    }
    expect(await skills.rows()).toEqual(before)
  })

  it('is refused if SKILL.md is not UTF-8', async () => {
    const { send } = await withSkills()
    const content = Buffer.from('---\nname: a\ndescription: \xff\n---\n', 'latin1').toString('base64')
    const json = { files: [{ filename: 'SKILL.md', content, encoding: 'base64' }] }
    const { status, body } = await send('POST', '', { json })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^SKILL\.md, line 3: /)])
  })

  it('may say its name and description again, but no others', async () => {
    const { send } = await withSkills()
    const same = { name: 'release-notes', description: 'Writes release notes.' }
    expect((await send('POST', '', { json: { ...skillOf(), ...same } })).status).toBe(201)
    for (const [field, value, sent] of [
      ['name', 'other', '"other"; allowed: "release-notes"'],
      ['description', 'Other.', '"Other."; allowed: "Writes release notes."'],
    ] as const) {
      const { status, body } = await send('POST', '', { json: { ...skillOf(), ...same, [field]: value } })
      const error = `${field} is not that of SKILL.md; got ${sent}. Change SKILL.md, or leave ${field} out.`
      expect([status, body.error]).toEqual([400, error])
    }
  })
})

describe('a version', () => {
  it('says who made it, when, with which message and digest', async () => {
    const skills = await withSkills()
    const { apiKeyId, workspace, update, versions, archive } = skills
    const before = now()
    const first = await skills.send('POST', '', { json: { ...skillOf(), message: 'The first.' } })
    const { id } = first.body
    const other = await workspace.addKeyWithId({ userId: null })
    await update(id, { name: 'renamed', description: 'Renamed.' }, { key: other.token })
    const { items, nextCursor } = await versions(id)
    expect(nextCursor).toBe(null)
    expect(items).toEqual([
      {
        version: 2,
        name: 'renamed',
        description: 'Renamed.',
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        isCurrent: true,
        message: null,
        apiKeyId: other.id,
        userId: null,
        createdAt: expect.stringMatching(INSTANT),
      },
      {
        version: 1,
        name: 'release-notes',
        description: 'Writes release notes.',
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        isCurrent: false,
        message: 'The first.',
        apiKeyId,
        userId: workspace.userId,
        createdAt: first.body.createdAt,
      },
    ])
    expect(items[1].createdAt >= before && items[0].createdAt <= now()).toBe(true)
    for (const { version, digest } of items) {
      const { body } = await archive(id, `?version=${version}`)
      expect(`sha256:${hash('sha256', body)}`).toBe(digest)
    }
  })

  it('never changes, whatever comes later', async () => {
    const { create, update, version, publish, archive } = await withSkills()
    const { id } = (await create({ files: FILES })).body
    const before = [await version(id, 1), (await archive(id, '?version=1')).body]
    await update(id, { name: 'renamed', files: filesOf('other') })
    await update(id, { name: 'again', files: [] })
    await publish(id, 2)
    const { isCurrent, ...after } = await version(id, 1)
    expect([{ ...after, isCurrent: true }, (await archive(id, '?version=1')).body]).toEqual(before)
    expect(isCurrent).toBe(false)
  })

  it('is not made by an equal push, whatever its order and message', async () => {
    const skills = await withSkills()
    const { create, send, rows } = skills
    const { body, headers } = await create({ files: FILES })
    const before = await rows()
    const json = { files: skillOf({ files: FILES }).files.toReversed(), message: 'Again.' }
    const answer = await send('PATCH', `/${body.id}`, { json })
    expect([answer.status, answer.body, answer.headers.get('ETag')]).toEqual([200, body, headers.get('ETag')])
    expect(await rows()).toEqual(before)
    expect(await storedArchives(skills)).toHaveLength(1)
    expect(await skills.workspace.dump('auditEvents')).toHaveLength(1)
  })

  it('is made by an executable bit alone', async () => {
    const { create, update, versions, version } = await withSkills()
    const { id } = (await create()).body
    await update(id, { files: [{ ...SCRIPT, executable: true }] })
    const { items } = await versions(id)
    expect(items).toHaveLength(2)
    expect(items[0].digest).not.toBe(items[1].digest)
    expect((await version(id, 2)).files[1].executable).toBe(true)
  })

  it('is made again by what an earlier one had: its number is new, its digest the same', async () => {
    const { create, update, versions } = await withSkills()
    const { id } = (await create()).body
    await update(id, { files: [] })
    await update(id)
    const digests = (await versions(id)).items.map(({ digest }: { digest: string }) => digest)
    expect(digests).toHaveLength(3)
    expect(digests[0]).toBe(digests[2])
  })

  it('stores each content once', async () => {
    const { workspace, create, update, rows } = await withSkills()
    const { id } = (await create({ files: filesOf('same', 'same', 'other') })).body
    expect((await rows()).contents).toHaveLength(3)
    await update(id, { files: [...filesOf('same', 'other'), { filename: 'new', content: 'new' }] })
    const { contents } = await rows()
    expect(contents).toHaveLength(4)
    const bytes = contents.reduce((sum, { content }) => sum + Buffer.byteLength(String(content)), 0)
    expect((await workspace.usage())?.skillBytes).toBe(bytes)
  })

  it('is listed in pages, the latest first', async () => {
    const { create, update, versions, send } = await withSkills()
    const { id } = (await create()).body
    for (let index = 2; index <= 12; index++) await update(id, { files: filesOf(`${index}`) })
    const numbers: number[] = []
    for (let query = '?limit=5'; ; ) {
      const { items, nextCursor } = await versions(id, query)
      numbers.push(...items.map(({ version }: { version: number }) => version))
      if (nextCursor === null) break
      query = `?limit=5&cursor=${nextCursor}`
    }
    expect(numbers).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    for (const query of ['cursor=', 'cursor=x', 'cursor=0', 'cursor=-1', 'cursor=1.5', 'cursor=2147483648']) {
      expect([query, (await send('GET', `/${id}/versions?${query}`)).status]).toEqual([query, 400])
    }
  })

  it('is found by its number only', async () => {
    const { create, send } = await withSkills()
    const { id } = (await create()).body
    for (const [version, status] of [
      ['1', 200],
      ['2', 404],
      ['2147483647', 404],
      ['2147483648', 400],
      ['0', 400],
      ['-1', 400],
      ['1.0', 400],
      ['current', 400],
    ] as const) {
      for (const path of [`/${id}/versions/${version}`, `/${id}/archive?version=${version}`]) {
        expect([path, (await send('GET', path)).status]).toEqual([path, status])
      }
    }
  })

  it('of another organization is not found', async () => {
    const { create } = await withSkills()
    const { id } = (await create()).body
    const stranger = await withSkills()
    const missing = crypto.randomUUID()
    for (const [method, path, json] of [
      ['GET', '/versions', undefined],
      ['GET', '/versions/1', undefined],
      ['GET', '/archive', undefined],
      ['GET', '/archive?version=1', undefined],
      ['POST', '/publish', { version: 1 }],
    ] as const) {
      const answers = []
      for (const skillId of [id, missing]) answers.push(await stranger.send(method, `/${skillId}${path}`, { json }))
      expect(answers.map(({ status }) => status)).toEqual([404, 404])
      expect(answers[0]?.body).toEqual(answers[1]?.body)
    }
  })
})

describe('publishSkillVersion', () => {
  async function withTwo() {
    const skills = await withSkills()
    const { body: first, headers } = await skills.create({ files: FILES })
    const second = await skills.update(first.id, { name: 'renamed', files: filesOf('new') })
    return { ...skills, id: first.id as string, first, firstTag: headers.get('ETag'), second }
  }

  it('restores name, description, bytes and digest of an earlier version', async () => {
    const { id, first, firstTag, second, publish, retrieve, archive, versions, rows } = await withTwo()
    const { digest } = (await versions(id)).items[1]
    const before = await rows()
    await waitPast(second.body.updatedAt)
    const answer = await publish(id, 1)
    const { updatedAt } = answer.body
    expect([answer.status, answer.body]).toEqual([200, { ...first, updatedAt }])
    expect(updatedAt > second.body.updatedAt).toBe(true)
    expect([firstTag, second.headers.get('ETag')]).not.toContain(answer.headers.get('ETag'))
    const after = await retrieve(id)
    expect([after.body, after.headers.get('ETag')]).toEqual([answer.body, answer.headers.get('ETag')])
    const { headers, body } = await archive(id)
    expect([headers.get('ETag'), `sha256:${hash('sha256', body)}`]).toEqual([`"${digest.slice(7)}"`, digest])
    // Nothing is stored again.
    const { versions: rowsOfVersions, contents } = await rows()
    expect([rowsOfVersions, contents]).toEqual([before.versions, before.contents])
  })

  it('changes nothing if the version is current', async () => {
    const { workspace, id, second, publish, rows } = await withTwo()
    const before = [await rows(), await workspace.dump('auditEvents')]
    const { status, body, headers } = await publish(id, 2)
    expect([status, body, headers.get('ETag')]).toEqual([200, second.body, second.headers.get('ETag')])
    expect([await rows(), await workspace.dump('auditEvents')]).toEqual(before)
  })

  it('is followed by the next number', async () => {
    const { id, publish, update, versions } = await withTwo()
    await publish(id, 1)
    await update(id, { files: filesOf('third') })
    const numbers = (await versions(id)).items.map(({ version }: { version: number }) => version)
    expect(numbers).toEqual([3, 2, 1])
    expect((await publish(id, 2)).status).toBe(200)
    expect((await versions(id)).items.map(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toEqual([
      false,
      true,
      false,
    ])
  })

  it('refuses the name of another skill, and a version that does not exist', async () => {
    const { id, publish, create, rows } = await withTwo()
    await create()
    const before = await rows()
    const taken = await publish(id, 1)
    expect([taken.status, taken.headers.get('Error-Code')]).toEqual([409, 'skill_name_taken'])
    const missing = await publish(id, 3)
    expect([missing.status, missing.headers.get('Error-Code')]).toEqual([404, 'skill_version_not_found'])
    expect(await rows()).toEqual(before)
  })

  it.each([
    [{}],
    [{ version: 0 }],
    [{ version: -1 }],
    [{ version: 1.5 }],
    [{ version: '1' }],
    [{ version: null }],
    [{ version: 2 ** 31 }],
    [{ version: 1, more: 1 }],
    [[]],
  ])('refuses the body %j', async (json) => {
    const { id, send, rows } = await withTwo()
    const before = await rows()
    expect((await send('POST', `/${id}/publish`, { json })).status).toBe(400)
    expect(await rows()).toEqual(before)
  })
})

describe('SKILL_VERSION_LIMIT', () => {
  const limit = (count: number) => ({ environment: { SKILL_VERSION_LIMIT: String(count) } })
  const numbersOf = async ({ versions }: Skills, id: string) =>
    (await versions(id, '?limit=1000')).items.map(({ version }: { version: number }) => version)

  it('removes the oldest versions with the contents and archives that no other needs', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create({ files: filesOf('kept', 'gone') })).body
    for (const text of ['2', '3', '4']) await skills.update(id, { files: filesOf('kept', text) }, limit(3))
    expect(await numbersOf(skills, id)).toEqual([4, 3, 2])
    const contents = (await skills.rows()).contents.map(({ content }) => content)
    expect(contents).toHaveLength(5)
    expect(contents).not.toContain('gone')
    await expectWhole(skills)
    expect(await storedArchives(skills)).toHaveLength(4)
    await sweep()
    expect(await storedArchives(skills)).toHaveLength(3)
    await expectWhole(skills)
    expect((await skills.archive(id, '?version=1')).status).toBe(404)
    expect((await skills.workspace.usage())?.skillBytes).toBe(
      contents.reduce((sum: number, content) => sum + Buffer.byteLength(String(content)), 0),
    )
  })

  it('keeps the published version, however old', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create({ files: filesOf('1') })).body
    await skills.update(id, { files: filesOf('2') })
    await skills.publish(id, 1)
    await skills.update(id, { files: filesOf('3') }, limit(1))
    // Version 3 is current now.
    expect(await numbersOf(skills, id)).toEqual([3])
    await skills.update(id, { files: filesOf('4') }, limit(2))
    expect(await numbersOf(skills, id)).toEqual([4, 3])
    await expectWhole(skills)
  })

  it('keeps versions that a feed names, and counts the others', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create({ files: filesOf('1') })).body
    const { body: feed } = await request('POST', '/v1/skill-feeds', {
      key: skills.key,
      json: { name: 'pinned', skills: [{ skillId: id, version: 1 }] },
    })
    for (const text of ['2', '3', '4']) await skills.update(id, { files: filesOf(text) }, limit(2))
    expect(await numbersOf(skills, id)).toEqual([4, 3, 1])
    await expectWhole(skills)
    expect((await request('DELETE', `/v1/skill-feeds/${feed.id}`, { key: skills.key })).status).toBe(200)
    await skills.update(id, { files: filesOf('5') }, limit(2))
    expect(await numbersOf(skills, id)).toEqual([5, 4])
    await expectWhole(skills)
  })

  it('removes all that are too many after it was lowered', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create({ files: filesOf('1') })).body
    for (let index = 2; index <= 8; index++) await skills.update(id, { files: filesOf(`${index}`) })
    for (const count of [4, 1, 0]) {
      await skills.update(id, { files: filesOf(`limit ${count}`) }, limit(count))
      expect(await numbersOf(skills, id)).toHaveLength(Math.max(count, 1))
      await expectWhole(skills)
    }
  })

  it('is 100 by default, and never reuses a number', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create({ files: filesOf('1') })).body
    for (let index = 2; index <= 102; index++) await skills.update(id, { files: filesOf(`${index}`) })
    const numbers = await numbersOf(skills, id)
    expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([100, 102, 3])
    await expectWhole(skills)
  })

  it('leaves the versions of other skills alone', async () => {
    const skills = await withSkills()
    const { id: other } = (await skills.create({ name: 'other', files: filesOf('1') })).body
    await skills.update(other, { name: 'other', files: filesOf('2') })
    const { id } = (await skills.create({ files: filesOf('1') })).body
    await skills.update(id, { files: filesOf('2') }, limit(1))
    expect(await numbersOf(skills, other)).toEqual([2, 1])
    expect(await numbersOf(skills, id)).toEqual([2])
    await expectWhole(skills)
  })
})

describe('several editors', () => {
  it('with the same If-Match: one wins, and no version is lost', async () => {
    const skills = await withSkills()
    const { body, headers } = await skills.create()
    const ifMatch = { headers: { 'If-Match': headers.get('ETag') ?? '' } }
    const answers = await Promise.all(
      ['one', 'two'].map((text) => skills.update(body.id, { files: filesOf(text) }, ifMatch)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    const { items } = await skills.versions(body.id)
    expect(items).toHaveLength(2)
    const won = answers.find(({ status }) => status === 200) as ApiResponse
    expect((await skills.retrieve(body.id)).body).toEqual(won.body)
    await expectWhole(skills)
  })

  it('without If-Match: every version is there, without gaps and duplicates', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create()).body
    const texts = Array.from({ length: 12 }, (_, index) => `edit ${index}`)
    const answers = await Promise.all(texts.map((text) => skills.update(id, { files: filesOf(text) })))
    expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 200))
    const { items } = await skills.versions(id)
    expect(items.map(({ version }: { version: number }) => version)).toEqual([
      13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ])
    const found: string[] = []
    for (let version = 2; version <= 13; version++) {
      found.push((await skills.version(id, version)).files[1].content)
    }
    expect(found.sort()).toEqual(texts.sort())
    // Each answer shows its own files.
    expect(answers.map(({ body }) => body.files[1].content)).toEqual(
      Array.from({ length: 12 }, (_, index) => `edit ${index}`),
    )
    await expectWhole(skills)
  })

  it('of the same files make one version', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create()).body
    const answers = await Promise.all(Array.from({ length: 8 }, () => skills.update(id, { files: filesOf('same') })))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body)
    expect((await skills.versions(id)).items).toHaveLength(2)
    await sweep()
    expect(await storedArchives(skills)).toHaveLength(2)
    await expectWhole(skills)
  })

  it('who publish, update and delete at once leave a whole skill, or none', async () => {
    for (let round = 0; round < 5; round++) {
      const skills = await withSkills()
      const { id } = (await skills.create()).body
      await skills.update(id, { files: filesOf('two') })
      const answers = await Promise.all([
        skills.publish(id, 1),
        skills.update(id, { files: filesOf('three') }, { environment: { SKILL_VERSION_LIMIT: '1' } }),
        skills.publish(id, 2),
        ...(round % 2 === 0 ? [skills.send('DELETE', `/${id}`)] : []),
      ])
      expect(answers.filter(({ status }) => ![200, 404].includes(status))).toEqual([])
      await expectWhole(skills)
      const { status, body } = await skills.retrieve(id)
      if (status === 200) expect(body.files.length).toBeGreaterThan(0)
      if (round % 2 !== 0) continue
      await skills.workspace.endUndo()
      await sweep()
      expect(await skills.rows()).toEqual({ skills: [], versions: [], contents: [] })
    }
  })

  it('with one Idempotency-Key make one skill, one version and one archive', async () => {
    const skills = await withSkills()
    const again = { headers: { 'Idempotency-Key': 'once' } }
    const answers = await Promise.all(Array.from({ length: 8 }, () => skills.create({}, again)))
    answers.push(await skills.create({}, again))
    for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body])
    const { skills: made, versions } = await skills.rows()
    expect([made.length, versions.length]).toEqual([1, 1])
    await sweep()
    expect(await storedArchives(skills)).toHaveLength(1)
    await expectWhole(skills)
  })
})

/** D1, but this call fails, before or after it runs the batch. */
function databaseFailingAt(number: number, when: 'before' | 'after', times = 1) {
  const use = { calls: 0 }
  const lost = () => new Error('D1_ERROR: Network connection lost.')
  const DB = databaseWith(async (statements) => {
    const call = ++use.calls
    const fails = call >= number && call < number + times
    if (fails && when === 'before') throw lost()
    const results = await env.DB.batch(statements)
    if (fails) throw lost()
    return results
  })
  return { DB, use }
}

function objectsFailing(when: 'before' | 'after'): R2Bucket {
  const put = async (...[key, body]: Parameters<R2Bucket['put']>) => {
    if (when === 'after') await env.OBJECTS.put(key, body)
    throw new Error('put: We encountered an internal error. (10001)')
  }
  return objectsWith({ put: put as R2Bucket['put'] })
}

describe('after a failure', () => {
  const acts: [string, (skills: Skills, id: string, environment: object) => Promise<ApiResponse>][] = [
    ['createSkill', (skills, _, environment) => skills.create({ name: 'new' }, { environment })],
    ['updateSkill', (skills, id, environment) => skills.update(id, { files: filesOf('new') }, { environment })],
    ['publishSkillVersion', (skills, id, environment) => skills.publish(id, 1, { environment })],
    ['deleteSkill', (skills, id, environment) => skills.send('DELETE', `/${id}`, { environment })],
  ]
  const failures = acts.flatMap(([operationId, act]) => [
    ...[1, 2].flatMap((call) =>
      (['before', 'after'] as const).map((when) => ({
        operationId,
        act,
        what: `of D1 ${when} call ${call}`,
        environment: () => ({ DB: databaseFailingAt(call, when).DB }),
      })),
    ),
    ...(operationId === 'createSkill' || operationId === 'updateSkill'
      ? (['before', 'after'] as const).map((when) => ({
          operationId,
          act,
          what: `of R2 ${when} the archive is stored`,
          environment: () => ({ OBJECTS: objectsFailing(when) }),
        }))
      : []),
  ])

  it.each(failures)('$what, $operationId leaves nothing behind that is not listed', async (failure) => {
    const skills = await withSkills()
    await request('GET', '/v1/me', { key: skills.key })
    const { id } = (await skills.create({ files: filesOf('first') })).body
    await skills.update(id, { files: filesOf('second') })
    const { status } = await failure.act(skills, id, failure.environment())
    expect([200, 201, 503, 500]).toContain(status)
    await expectWhole(skills)
    // The same request again, now without a failure.
    const again = await failure.act(skills, id, {})
    expect([200, 201, 404, 409]).toContain(again.status)
    await expectWhole(skills)
    await sweep()
    await expectWhole(skills)
    expect(await storedArchives(skills)).toHaveLength((await skills.rows()).versions.length)
    const { items } = await skills.versions(id)
    // An update that failed after its commit made its version; the same request again made no other.
    if (failure.operationId === 'updateSkill') expect(items).toHaveLength(3)
  })

  it.each([
    [1, 'before', 1],
    [1, 'after', 1],
    [1, 'after', 2],
    [2, 'before', 1],
    [2, 'after', 1],
    [2, 'after', 2],
  ] as const)(
    'of D1 at call %i %s its commit, %i times, an Idempotency-Key makes one skill',
    async (call, when, times) => {
      const skills = await withSkills()
      await request('GET', '/v1/me', { key: skills.key })
      const { DB, use } = databaseFailingAt(call, when, times)
      const headers = { 'Idempotency-Key': 'once' }
      const { status, body } = await skills.create({}, { headers, environment: { DB } })
      expect([status, use.calls]).toEqual([201, 2 + times])
      expect((await skills.create({}, { headers })).body).toEqual(body)
      const { skills: made, versions } = await skills.rows()
      expect([made.length, versions.length]).toEqual([1, 1])
      expect(await skills.workspace.dump('auditEvents')).toHaveLength(1)
      await expectWhole(skills)
    },
  )

  it('of a request that takes more than an hour, nothing is recorded without its archive', async () => {
    const skills = await withSkills()
    const { id } = (await skills.create()).body
    const OBJECTS = objectsWith({
      put: (async (...[key, body]: Parameters<R2Bucket['put']>) => {
        await env.DB.prepare('UPDATE "orphanedObjects" SET "deleteAfter" = ?').bind(now()).run()
        return env.OBJECTS.put(key, body)
      }) as R2Bucket['put'],
    })
    for (const { status, headers } of [
      await skills.create({ name: 'new' }, { environment: { OBJECTS } }),
      await skills.update(id, { files: filesOf('new') }, { environment: { OBJECTS } }),
    ]) {
      expect([status, headers.get('Error-Code')]).toEqual([409, 'upload_expired'])
    }
    await sweep()
    expect(await storedArchives(skills)).toHaveLength(1)
    await expectWhole(skills)
  })

  it('of R2, an archive is 503', async () => {
    const { create, archive } = await withSkills()
    const { id } = (await create()).body
    const OBJECTS = objectsWith({
      get: (() => Promise.reject(new Error('get: internal error'))) as unknown as R2Bucket['get'],
    })
    expect((await archive(id, '', { environment: { OBJECTS } })).status).toBe(503)
  })
})

describe('deleteSkill', () => {
  it('leaves versions, contents and archives until the deletion is final', async () => {
    const skills = await withSkills()
    const { id: other } = (await skills.create({ name: 'other' })).body
    const before = await skills.rows()
    const { id } = (await skills.create({ files: FILES })).body
    for (const text of ['2', '3']) await skills.update(id, { files: filesOf(text) })
    expect((await skills.send('DELETE', `/${id}`)).status).toBe(200)
    await sweep()
    const { skills: remaining, versions } = await skills.rows()
    expect([remaining, versions]).toEqual([before.skills, expect.objectContaining({ length: 4 })])
    expect(await storedArchives(skills)).toHaveLength(4)
    for (const path of ['', '/versions', '/versions/1', '/archive']) {
      expect((await skills.send('GET', `/${id}${path}`)).status).toBe(404)
    }
    await skills.workspace.endUndo()
    await sweep()
    expect(await skills.rows()).toEqual(before)
    expect(await storedArchives(skills)).toHaveLength(1)
    await expectWhole(skills)
    expect((await skills.archive(other)).status).toBe(200)
    for (const path of ['/versions', '/versions/1', '/archive']) {
      expect((await skills.send('GET', `/${id}${path}`)).status).toBe(404)
    }
    expect((await skills.workspace.usage())?.skills).toBe(1)
  })
})

describe('the archive', () => {
  it('is the same for the same files, whichever client pushes them, in any order', async () => {
    const [one, two] = [await withSkills(), await withSkills()]
    const first = (await one.create({ files: FILES })).body
    const second = (await two.create({ files: FILES.toReversed() })).body
    const [a, b] = [await one.archive(first.id), await two.archive(second.id)]
    expect(hash('sha256', a.body)).toBe(hash('sha256', b.body))
    expect(a.headers.get('ETag')).toBe(b.headers.get('ETag'))
    expect(a.headers.get('ETag')).toBe(`"${hash('sha256', a.body)}"`)
  })

  it('says what it is, and is 304 for its ETag', async () => {
    const { create, update, archive, send } = await withSkills()
    const { id } = (await create()).body
    const { status, headers, body } = await archive(id)
    expect(status).toBe(200)
    expect(Array.from(body.subarray(0, 2))).toEqual([0x1f, 0x8b])
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': 'attachment; filename="release-notes-1.tar.gz"',
      'cache-control': 'private, no-cache, no-transform',
    })
    const ETag = headers.get('ETag') ?? ''
    const ifNoneMatch = { headers: { 'If-None-Match': `"other", W/${ETag}` } }
    const same = await archive(id, '', ifNoneMatch)
    expect([same.status, same.headers.get('ETag'), same.headers.get('Content-Type')]).toEqual([304, ETag, null])
    const head = await send('HEAD', `/${id}/archive`)
    expect([head.status, head.headers.get('ETag'), head.body.length]).toEqual([200, ETag, 0])
    await update(id, { files: [] })
    expect((await archive(id, '', ifNoneMatch)).status).toBe(200)
    expect((await archive(id, '?version=1', ifNoneMatch)).status).toBe(304)
  })

  it('needs the scope skills:read', async () => {
    const { workspace, create, archive } = await withSkills()
    const { id } = (await create()).body
    const key = await workspace.addKey({ scopes: ['skills:write'] })
    expect((await archive(id, '', { key })).status).toBe(400)
    expect((await request('GET', `/v1/skills/${id}/archive`)).status).toBe(401)
  })
})

it('a read makes one call, and a large body three', async () => {
  const { key, create, send } = await withSkills()
  const { id } = (await create()).body
  for (const path of ['', '/versions', '/versions/1', '/archive']) {
    const database = watchedDatabase()
    expect((await send('GET', `/${id}${path}`, { environment: { DB: database.DB } })).status).toBe(200)
    expect([path, database.calls]).toEqual([path, 1])
  }
  const database = watchedDatabase()
  const json = skillOf({ files: filesOf('x'.repeat(65 * 1024)) })
  await request('PATCH', `/v1/skills/${id}`, { key, json, environment: { DB: database.DB } })
  expect(database.calls).toBe(3)
})
