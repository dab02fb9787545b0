import { describe, expect, it } from 'vitest'
import { PREFIX, type RequestOptions, request } from './support/api.ts'
import { failingDatabase } from './support/bindings.ts'
import { now, Workspace } from './support/workspace.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

async function withSkill(files: Record<string, string> = { 'SKILL.md': '# Release notes\n' }, id?: string) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const skillId = await workspace.addSkill(files, id)
  const retrieve = (more: RequestOptions = {}) => request('GET', `/v1/skills/${skillId}`, { key, ...more })
  /** @returns the answer to a request that has the skill under these entity tags. */
  const retrieveIf = (ifNoneMatch: string, more: RequestOptions = {}) =>
    retrieve({ headers: { 'If-None-Match': ifNoneMatch }, ...more })
  const entityTag = async () => (await retrieve()).headers.get('ETag') as string
  return { workspace, key, skillId, retrieve, retrieveIf, entityTag }
}

interface SkillFile {
  readonly filename: string
  readonly content: string
}

const contents = (files: SkillFile[]) =>
  Object.fromEntries(files.map(({ filename, content }) => [filename, content]))

describe('retrieveSkill', () => {
  it('answers with the skill and all of its files', async () => {
    const before = now()
    const { skillId, retrieve } = await withSkill({ 'SKILL.md': '# Notes\n', 'run.sh': 'echo\n' })
    const { status, headers, body } = await retrieve()
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toMatch(/^application\/json/)
    expect(body).toEqual({
      id: skillId,
      name: 'release-notes',
      description: 'Writes release notes.',
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: expect.stringMatching(INSTANT),
      files: [
        { id: expect.stringMatching(UUID), filename: 'SKILL.md', content: '# Notes\n' },
        { id: expect.stringMatching(UUID), filename: 'run.sh', content: 'echo\n' },
      ],
    })
    expect(new Set(body.files.map(({ id }: { id: string }) => id)).size).toBe(2)
    expect(body.createdAt >= before && body.createdAt <= now()).toBe(true)
  })

  it('answers with an empty list for a skill without files', async () => {
    const { retrieve } = await withSkill({})
    const { status, body } = await retrieve()
    expect([status, body.files]).toEqual([200, []])
  })

  it('answers with no file of another skill', async () => {
    const { workspace, skillId, retrieve } = await withSkill({ 'SKILL.md': 'this' })
    await workspace.addSkill({ 'SKILL.md': 'that', 'more.md': 'that' })
    const stranger = await Workspace.create()
    await stranger.addSkill({ 'SKILL.md': 'theirs', 'theirs.md': 'theirs' }, skillId)
    expect(contents((await retrieve()).body.files)).toEqual({ 'SKILL.md': 'this' })
  })

  it('takes the id in either case, answers in lower case, and under the prefix', async () => {
    const { key, skillId } = await withSkill()
    const { status, body } = await request('GET', `${PREFIX}/v1/skills/${skillId.toUpperCase()}`, { key })
    expect([status, body.id]).toEqual([200, skillId])
  })

  it.each([
    '00000000-0000-0000-0000-000000000000',
    '12345678-1234-0234-0234-123456789abc',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('takes the id %s, whatever its version bits', async (id) => {
    const { retrieve } = await withSkill({}, id)
    const { status, body } = await retrieve()
    expect([status, body.id]).toEqual([200, id])
  })

  it('lists the files in order of filename, whatever the order of creation', async () => {
    const inOrder = [
      ...['.config', '0', '10', '2', 'SKILL.md', 'Z.md', '_', 'a', 'a b', 'a-b', 'a.md', 'a/b.md', 'aa'],
      ...['b', 'e\u0301.md', 'z.md', '\u00e9.md', '\u65e5\u672c.md', '\ufb01.md', '\u{1f550}.md'],
    ]
    const shuffled = inOrder.map((_, index) => inOrder[(index * 7 + 3) % inOrder.length] as string)
    const { retrieve } = await withSkill(Object.fromEntries(shuffled.map((name) => [name, ''])))
    const { body } = await retrieve()
    expect(body.files.map(({ filename }: SkillFile) => filename)).toEqual(inOrder)
  })

  it('answers with contents exactly as they were stored', async () => {
    const files = {
      'controls.txt': '\u0001\u0002\b\t\v\f\u001b\u007f\u0080\u009f',
      'empty.txt': '',
      'escapes.json': '{"a":"\\u0000\\\\\\"\\/"}',
      'lines.txt': 'a\r\nb\rc\n\n\u0085\u2028\u2029\r\n',
      'markup.html': '</script><!-- & "quoted" \'single\' --><script>',
      'no-break.txt': '\ufeff\u00a0\u200b\u200d\u202e\u2060\ufffd\ufffe\uffff',
      'number.txt': '0012.50',
      'null.txt': 'null',
      'spaces.txt': '  \t leading and trailing \t  ',
      'sql.txt': "'; DROP TABLE skills; -- ? ?1 :name",
      'unicode.txt': 'e\u0301 \u00e9 \u65e5\u672c \u{1f469}\u200d\u{1f680} \u{10ffff} \u0130\u0131 \u1e9e',
    }
    const { retrieve } = await withSkill(files)
    const { body } = await retrieve()
    expect(contents(body.files)).toEqual(files)
  })

  it('answers with filenames exactly as they were stored', async () => {
    const files = {
      ' a': '1',
      'A\u030a': '2',
      '\u00c5': '3',
      'dir/../x': '4',
      'q"\\\n': '5',
      constructor: '6',
    }
    const { retrieve } = await withSkill(files)
    expect(contents((await retrieve()).body.files)).toEqual(files)
  })

  it('answers with files of 500 KB', async () => {
    const files = {
      'ascii.txt': '0123456789abcdef'.repeat(32_000),
      'unicode.txt': '\u{1f550}\r\n\u00e9'.repeat(64_000),
    }
    const { retrieve } = await withSkill(files)
    const { status, body } = await retrieve()
    expect(status).toBe(200)
    const answered = contents(body.files)
    expect(answered['ascii.txt'] === files['ascii.txt']).toBe(true)
    expect(answered['unicode.txt'] === files['unicode.txt']).toBe(true)
  })

  it('answers with all of 300 files', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `file-${String(index).padStart(3, '0')}.md`)
    const { retrieve } = await withSkill(Object.fromEntries(names.map((name) => [name, name])))
    const { body } = await retrieve()
    expect(body.files.map(({ filename }: SkillFile) => filename)).toEqual(names)
  })

  it('ignores the query', async () => {
    const { key, skillId } = await withSkill()
    const path = `/v1/skills/${skillId}?limit=0&files=no&skillId=${crypto.randomUUID()}`
    const { status, body } = await request('GET', path, { key })
    expect([status, body.id]).toEqual([200, skillId])
  })
})

describe('the ETag of a skill', () => {
  it('is a strong entity tag, the same until the skill changes', async () => {
    const { entityTag } = await withSkill()
    const first = await entityTag()
    expect(first).toMatch(/^"[\x21\x23-\x7e]+"$/)
    expect(await entityTag()).toBe(first)
  })

  it('is not that of another skill with the same files', async () => {
    const { workspace, key, entityTag } = await withSkill()
    const other = await workspace.addSkill({ 'SKILL.md': '# Release notes\n' })
    const answer = await request('GET', `/v1/skills/${other}`, { key })
    expect(answer.headers.get('ETag')).not.toBe(await entityTag())
  })

  it.each<[string, (tag: string) => string]>([
    ['itself', (tag) => tag],
    ['a weak one', (tag) => `W/${tag}`],
    ['a list that begins with it', (tag) => `${tag}, "b"`],
    ['a list that ends with it', (tag) => `"a", "b",${tag}`],
    ['a list of weak ones', (tag) => `W/"a" , W/${tag} , W/"c"`],
    ['a list with an empty tag', (tag) => `"", ${tag}`],
    ['a list with tags that hold commas and stars', (tag) => `"a,b", "*", ${tag}`],
    ['a list with empty elements', (tag) => `, ${tag} ,,`],
    ['anything', () => '*'],
  ])('is answered with 304 if If-None-Match is %s', async (_, ifNoneMatch) => {
    const { retrieveIf, entityTag } = await withSkill()
    const tag = await entityTag()
    const answer = await retrieveIf(ifNoneMatch(tag))
    expect([answer.status, answer.body]).toEqual([304, null])
    expect(answer.headers.get('ETag')).toBe(tag)
    expect(answer.headers.get('Cache-Control')).toBe('private, no-cache')
    expect(answer.headers.get('X-Request-Id')).toMatch(UUID)
    expect(answer.headers.has('Content-Type')).toBe(false)
  })

  it.each<[string, (tag: string) => string]>([
    ['another tag', () => '"0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70"'],
    ['an empty tag', () => '""'],
    ['empty', () => ''],
    ['a list of others', () => '"a", W/"b"'],
    ['a star in quotes', () => '"*"'],
    ['a weak star', () => 'W/*'],
    ['a star in a list', () => '*, "a"'],
    ['a part of it', (tag) => `${tag.slice(0, -2)}"`],
    ['more than it', (tag) => `${tag.slice(0, -1)}x"`],
    ['in upper case', (tag) => tag.toUpperCase()],
    ['without quotes', (tag) => tag.slice(1, -1)],
    ['without its first quote', (tag) => tag.slice(1)],
    ['without its last quote', (tag) => tag.slice(0, -1)],
    ['in single quotes', (tag) => tag.replaceAll('"', "'")],
    ['in two pairs of quotes', (tag) => `"${tag}"`],
    ['with spaces inside the quotes', (tag) => `" ${tag.slice(1, -1)} "`],
    ['in escaped quotes', (tag) => tag.replaceAll('"', '\\"').replace(/"$/, '')],
  ])('is answered with 200 if If-None-Match is %s', async (_, ifNoneMatch) => {
    const { skillId, retrieveIf, entityTag } = await withSkill()
    const tag = await entityTag()
    const { status, headers, body } = await retrieveIf(ifNoneMatch(tag))
    expect([status, body.id, headers.get('ETag')]).toEqual([200, skillId, tag])
  })

  it.each<[string, (tag: string) => string]>([
    ['a lower-case w', (tag) => `w/${tag}`],
    ['a space after W/', (tag) => `W/ ${tag}`],
    ['a word before it', (tag) => `abc${tag}`],
    ['a word after it', (tag) => `${tag}abc`],
    ['no comma in the list', (tag) => `"a" ${tag}`],
    ['semicolons in the list', (tag) => `"a"; ${tag}`],
    ['a star beside it', (tag) => `*, ${tag}`],
  ])('is answered with 200 if If-None-Match is no list of entity tags: %s', async (_, ifNoneMatch) => {
    const { retrieveIf, entityTag } = await withSkill()
    expect((await retrieveIf(ifNoneMatch(await entityTag()))).status).toBe(200)
  })

  it('is found in a long list', async () => {
    const { retrieveIf, entityTag } = await withSkill()
    const tag = await entityTag()
    expect((await retrieveIf('"a", '.repeat(2000) + tag)).status).toBe(304)
    expect((await retrieveIf('W/"'.repeat(2000))).status).toBe(200)
  })
})

describe('HEAD of a skill', () => {
  it('answers as GET does, without the body', async () => {
    const { key, skillId, entityTag } = await withSkill()
    const { status, headers, body } = await request('HEAD', `/v1/skills/${skillId}`, { key })
    expect([status, body]).toEqual([200, null])
    expect(headers.get('ETag')).toBe(await entityTag())
    expect(headers.get('Content-Type')).toMatch(/^application\/json/)
  })

  it('answers 304 for a matching If-None-Match', async () => {
    const { key, skillId, entityTag } = await withSkill()
    const headers = { 'If-None-Match': await entityTag() }
    const answer = await request('HEAD', `/v1/skills/${skillId}`, { key, headers })
    expect([answer.status, answer.body]).toEqual([304, null])
  })
})

describe('the errors of retrieveSkill', () => {
  it.each([
    '7',
    'release-notes',
    '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7',
    '0198c2a47d1e7c3a9b523f6d8e1a4c70',
    '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70%0A',
    '%7B0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70%7D',
    '%00',
  ])('answers 400 for the id %s', async (id) => {
    const { key } = await withSkill()
    const { status, body } = await request('GET', `/v1/skills/${id}`, { key })
    expect([status, body]).toEqual([400, { error: 'skillId: expected a UUID' }])
  })

  it('answers 400 for an id that does not decode', async () => {
    const { key } = await withSkill()
    for (const id of ['%', '%zz', '%FF', '%ED%A0%80'])
      expect((await request('GET', `/v1/skills/${id}`, { key })).status).toBe(400)
  })

  it('answers 404 for a skill that nobody has, or another organization has, in the same words', async () => {
    const { key } = await withSkill()
    const stranger = await withSkill()
    for (const headers of [{}, { 'If-None-Match': '*' }, { 'If-None-Match': await stranger.entityTag() }]) {
      const get = (id: string) => request('GET', `/v1/skills/${id}`, { key, headers })
      const missing = await get(crypto.randomUUID())
      expect([missing.status, missing.headers.has('ETag')]).toEqual([404, false])
      const theirs = await get(stranger.skillId)
      expect([theirs.status, theirs.body]).toEqual([404, missing.body])
      expect(theirs.headers.has('ETag')).toBe(false)
    }
  })

  it('answers 400 if the key lacks the scope, before anything is told of the skill', async () => {
    const { workspace, retrieve, retrieveIf } = await withSkill()
    const key = await workspace.addKey({ scopes: ['pins:write', 'session-files:read'] })
    const { status, headers, body } = await retrieve({ key })
    expect([status, body]).toEqual([400, { error: expect.stringContaining('skills:read') }])
    expect(headers.has('ETag')).toBe(false)
    const missing = await request('GET', `/v1/skills/${crypto.randomUUID()}`, { key })
    expect([missing.status, missing.body]).toEqual([400, body])
    expect((await retrieveIf('*', { key, headers: { 'If-None-Match': '*' } })).status).toBe(400)
  })

  it('is open to a key without a user, and to one that is limited to no project at all', async () => {
    const { workspace, retrieve } = await withSkill()
    expect((await retrieve({ key: await workspace.addKey({ userId: null }) })).status).toBe(200)
    expect((await retrieve({ key: await workspace.addKey({ projectIds: [] }) })).status).toBe(200)
  })

  it('answers 401 without a live key, whatever the input and If-None-Match', async () => {
    const { workspace, skillId, retrieve } = await withSkill()
    const missing = await request('GET', `/v1/skills/${skillId}`)
    expect([missing.status, missing.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer'])
    const { token, id } = await workspace.addKeyWithId()
    expect((await retrieve({ key: token })).status).toBe(200)
    await workspace.revokeKey(id)
    const expired = await workspace.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' })
    for (const key of [token, expired]) {
      expect((await retrieve({ key })).status).toBe(401)
      expect((await retrieve({ key, headers: { 'If-None-Match': '*' } })).status).toBe(401)
      expect((await request('GET', '/v1/skills/7', { key })).status).toBe(401)
    }
  })

  it('answers 500 in a constant sentence if the database fails', async () => {
    const { retrieve } = await withSkill()
    const answers = []
    for (const message of [
      'D1_ERROR: no such table: skillFiles: SQLITE_ERROR',
      'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    ]) {
      answers.push(await retrieve({ environment: { DB: failingDatabase(new Error(message)) } }))
    }
    expect(answers.map(({ status }) => status)).toEqual([500, 500])
    expect(answers[0]?.headers.has('ETag')).toBe(false)
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    expect(answers[0]?.body.error).not.toMatch(/skill|D1|table/i)
  })
})
