import { describe, expect, it } from 'vitest'
import * as tables from '../../../src/db/schema.ts'
import { PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { failingDatabase } from '../../support/bindings.ts'
import { waitPast } from '../../support/clock.ts'
import { env } from '../../support/env.ts'
import { entryFile, filesOf, SCRIPT, skillOf } from '../../support/skills.ts'
import { tick } from '../../support/tick.ts'
import { now, Workspace } from '../../support/workspace.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

async function withSkill(files: Record<string, string> = { 'SKILL.md': '# Release notes\n' }, id?: string) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const skillId = await workspace.addSkill(files, id)
  const retrieve = (more: RequestOptions = {}) => request('GET', `/v1/skills/${skillId}`, { key, ...more })
  /** Retrieves the skill with these entity tags in `If-None-Match`. */
  const retrieveIf = (ifNoneMatch: string, more: RequestOptions = {}) =>
    retrieve({ headers: { 'If-None-Match': ifNoneMatch }, ...more })
  const entityTag = async () => (await retrieve()).headers.get('ETag') as string
  return { workspace, key, skillId, retrieve, retrieveIf, entityTag }
}

interface SkillFile {
  readonly id: string
  readonly filename: string
  readonly content: string
}

const contents = (files: readonly Omit<SkillFile, 'id'>[]) =>
  Object.fromEntries(files.map(({ filename, content }) => [filename, content]))

/** The id of each file. */
const idsOf = (files: SkillFile[]) => Object.fromEntries(files.map(({ id, filename }) => [filename, id]))

const MEBIBYTE = 2 ** 20

/** Apart from SKILL.md. */
const otherContents = (files: readonly Omit<SkillFile, 'id'>[]) =>
  contents(files.filter(({ filename }) => filename !== 'SKILL.md'))

/** A workspace, and requests for its skills. */
async function withSkills() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const send = (method: string, path: string, options: RequestOptions = {}) =>
    request(method, `/v1/skills${path}`, { key, ...options })
  return {
    workspace,
    key,
    /** @param change what the skill has apart from the defaults of `skillOf`. */
    create: (change: Parameters<typeof skillOf>[0] = {}, more: RequestOptions = {}) =>
      send('POST', '', { json: skillOf(change), ...more }),
    retrieve: (id: string, more?: RequestOptions) => send('GET', `/${id}`, more),
    update: (id: string, change: Parameters<typeof skillOf>[0] = {}, more: RequestOptions = {}) =>
      send('PATCH', `/${id}`, { json: skillOf(change), ...more }),
    /** A body that `skillOf` does not make. */
    createRaw: (json: unknown) => send('POST', '', { json }),
    updateRaw: (id: string, json: unknown) => send('PATCH', `/${id}`, { json }),
    remove: (id: string, more?: RequestOptions) => send('DELETE', `/${id}`, more),
    list: (query = '', more?: RequestOptions) => send('GET', query, more),
    /** The stored skills, versions and contents. */
    rows: async () => ({
      skills: await workspace.dump('skills'),
      versions: await workspace.dump('skillVersions'),
      contents: await workspace.dump('skillContents'),
    }),
  }
}

const filesIn = (record: Readonly<Record<string, string>>) =>
  Object.entries(record).map(([filename, content]) => ({ filename, content }))

const statuses = (responses: { status: number }[]) => responses.map(({ status }) => status).sort()

const CONTENTS = {
  'controls.txt': String.fromCharCode(...Array.from({ length: 159 }, (_, index) => index + 1)),
  'crlf.txt': 'a\r\nb\rc\n\n\u0085\u2028\u2029\r\n',
  'empty.txt': '',
  'escapes.json': '{"a":"\\u0000\\\\\\"\\/"}',
  'markup.html': '</script><!-- & "quoted" \'single\' --><script>',
  'no-break.txt': '\ufeff\u00a0\u200b\u200d\u202e\u2060\ufffd\ufffe\uffff',
  'no-newline.txt': 'the last line has no end',
  'null.txt': 'null',
  'number.txt': '0012.50',
  'spaces.txt': '  \t leading and trailing \t  \n\n',
  'sql.txt': "'; DROP TABLE skills; -- ? ?1 :name",
  'unicode.txt': 'e\u0301 \u00e9 \u65e5\u672c \u{1f469}\u200d\u{1f680} \u{10ffff} \u0130\u0131 \u1e9e',
}

describe('retrieveSkill', () => {
  it('returns the skill with all of its files', async () => {
    const before = now()
    const { skillId, retrieve } = await withSkill({ 'SKILL.md': '# Notes\n', 'run.sh': 'echo\n' })
    const { status, headers, body } = await retrieve()
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toMatch(/^application\/json/)
    expect(body).toEqual({
      id: skillId,
      name: expect.stringMatching(/^skill-/),
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

  it('returns an empty list for a skill without files', async () => {
    const { retrieve } = await withSkill({})
    const { status, body } = await retrieve()
    expect([status, body.files]).toEqual([200, []])
  })

  it('returns no file of another skill', async () => {
    const { workspace, skillId, retrieve } = await withSkill({ 'SKILL.md': 'this' })
    await workspace.addSkill({ 'SKILL.md': 'that', 'more.md': 'that' })
    const stranger = await Workspace.create()
    await stranger.addSkill({ 'SKILL.md': 'theirs', 'theirs.md': 'theirs' }, skillId)
    expect(contents((await retrieve()).body.files)).toEqual({ 'SKILL.md': 'this' })
  })

  it('accepts the id in either case, returns it in lower case, and accepts the base path', async () => {
    const { key, skillId } = await withSkill()
    const { status, body } = await request('GET', `${PREFIX}/v1/skills/${skillId.toUpperCase()}`, { key })
    expect([status, body.id]).toEqual([200, skillId])
  })

  it.each([
    '00000000-0000-0000-0000-000000000000',
    '12345678-1234-0234-0234-123456789abc',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('accepts the id %s, whatever its version bits', async (id) => {
    const { retrieve } = await withSkill({}, id)
    const { status, body } = await retrieve()
    expect([status, body.id]).toEqual([200, id])
  })

  it('lists the files sorted by filename, whatever the order of creation', async () => {
    const inOrder = [
      ...['.config', '0', '10', '2', 'SKILL.md', 'Z.md', '_', 'a', 'a b', 'a-b', 'a.md', 'a/b.md', 'aa'],
      ...['b', 'e\u0301.md', 'z.md', '\u00e9.md', '\u65e5\u672c.md', '\ufb01.md', '\u{1f550}.md'],
    ]
    const shuffled = inOrder.map((_, index) => inOrder[(index * 7 + 3) % inOrder.length] as string)
    const { retrieve } = await withSkill(Object.fromEntries(shuffled.map((name) => [name, ''])))
    const { body } = await retrieve()
    expect(body.files.map(({ filename }: SkillFile) => filename)).toEqual(inOrder)
  })

  it('returns contents exactly as stored', async () => {
    const { retrieve } = await withSkill(CONTENTS)
    expect(contents((await retrieve()).body.files)).toEqual(CONTENTS)
  })

  it('returns filenames exactly as stored', async () => {
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

  it('returns files of 500 KB', async () => {
    const files = {
      'ascii.txt': '0123456789abcdef'.repeat(32_000),
      'unicode.txt': '\u{1f550}\r\n\u00e9'.repeat(64_000),
    }
    const { retrieve } = await withSkill(files)
    const { status, body } = await retrieve()
    expect(status).toBe(200)
    const returned = contents(body.files)
    expect(returned['ascii.txt'] === files['ascii.txt']).toBe(true)
    expect(returned['unicode.txt'] === files['unicode.txt']).toBe(true)
  })

  it('returns all of 300 files', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `file-${String(index).padStart(3, '0')}.md`)
    const { retrieve } = await withSkill(Object.fromEntries(names.map((name) => [name, name])))
    const { body } = await retrieve()
    expect(body.files.map(({ filename }: SkillFile) => filename)).toEqual(names)
  })
})

describe('the ETag of a skill', () => {
  it('is a strong entity tag, the same until the skill changes', async () => {
    const { entityTag } = await withSkill()
    const first = await entityTag()
    expect(first).toMatch(/^"[\x21\x23-\x7e]+"$/)
    expect(await entityTag()).toBe(first)
  })

  it('differs from the ETag of another skill with the same files', async () => {
    const { workspace, key, entityTag } = await withSkill()
    const other = await workspace.addSkill({ 'SKILL.md': '# Release notes\n' })
    const response = await request('GET', `/v1/skills/${other}`, { key })
    expect(response.headers.get('ETag')).not.toBe(await entityTag())
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
  ])('matches (304) if If-None-Match is %s', async (_, ifNoneMatch) => {
    const { retrieveIf, entityTag } = await withSkill()
    const tag = await entityTag()
    const response = await retrieveIf(ifNoneMatch(tag))
    expect([response.status, response.body]).toEqual([304, null])
    expect(response.headers.get('ETag')).toBe(tag)
    expect(response.headers.get('Cache-Control')).toBe('private, no-cache')
    expect(response.headers.get('X-Request-Id')).toMatch(UUID)
    expect(response.headers.has('Content-Type')).toBe(false)
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
  ])('does not match (200) if If-None-Match is %s', async (_, ifNoneMatch) => {
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
  ])('does not match (200) if If-None-Match is not a list of entity tags: %s', async (_, ifNoneMatch) => {
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
  it('responds as GET does, without the body', async () => {
    const { key, skillId, entityTag } = await withSkill()
    const { status, headers, body } = await request('HEAD', `/v1/skills/${skillId}`, { key })
    expect([status, body]).toEqual([200, null])
    expect(headers.get('ETag')).toBe(await entityTag())
    expect(headers.get('Content-Type')).toMatch(/^application\/json/)
  })

  it('returns 304 for a matching If-None-Match', async () => {
    const { key, skillId, entityTag } = await withSkill()
    const headers = { 'If-None-Match': await entityTag() }
    const response = await request('HEAD', `/v1/skills/${skillId}`, { key, headers })
    expect([response.status, response.body]).toEqual([304, null])
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
  ])('returns 400 for the id %s', async (id) => {
    const { key } = await withSkill()
    const { status, body } = await request('GET', `/v1/skills/${id}`, { key })
    const sent = JSON.stringify(decodeURIComponent(id))
    const error = `skillId has the wrong format; got ${sent}; allowed: a UUID such as "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70".`
    expect([status, body]).toEqual([400, { error }])
  })

  it('returns 400 for an id that cannot be decoded', async () => {
    const { key } = await withSkill()
    for (const id of ['%', '%zz', '%FF', '%ED%A0%80'])
      expect((await request('GET', `/v1/skills/${id}`, { key })).status).toBe(400)
  })

  it('returns the same 404 for a skill that does not exist and for one of another organization', async () => {
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

  it('returns 400 if the API key lacks the scope, and nothing about the skill', async () => {
    const { workspace, retrieve, retrieveIf } = await withSkill()
    const key = await workspace.addKey({ scopes: ['pins:write', 'session-files:read'] })
    const { status, headers, body } = await retrieve({ key })
    expect([status, body]).toEqual([400, { error: expect.stringContaining('skills:read') }])
    expect(headers.has('ETag')).toBe(false)
    const missing = await request('GET', `/v1/skills/${crypto.randomUUID()}`, { key })
    expect([missing.status, missing.body]).toEqual([400, body])
    expect((await retrieveIf('*', { key, headers: { 'If-None-Match': '*' } })).status).toBe(400)
  })

  it('allows an API key without a user, and one restricted to no project', async () => {
    const { workspace, retrieve } = await withSkill()
    expect((await retrieve({ key: await workspace.addKey({ userId: null }) })).status).toBe(200)
    expect((await retrieve({ key: await workspace.addKey({ projectIds: [] }) })).status).toBe(200)
  })

  it('returns 401 without a live API key, whatever the input and If-None-Match', async () => {
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

  it('returns 500 with a constant message if the database fails', async () => {
    const { retrieve } = await withSkill()
    const responses = []
    for (const message of [
      'D1_ERROR: no such table: skillContents: SQLITE_ERROR',
      'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    ]) {
      responses.push(await retrieve({ environment: { DB: failingDatabase(new Error(message)) } }))
    }
    expect(responses.map(({ status }) => status)).toEqual([500, 500])
    expect(responses[0]?.headers.has('ETag')).toBe(false)
    expect(responses[0]?.body).toEqual(responses[1]?.body)
    expect(responses[0]?.body.error).not.toMatch(/skill|D1|table/i)
  })
})

describe('createSkill', () => {
  it.each(['', PREFIX])('creates a skill with its files under "%s"', async (basePath) => {
    const { key, retrieve } = await withSkills()
    const before = now()
    const { status, headers, body } = await request('POST', `${basePath}/v1/skills`, { key, json: skillOf() })
    expect([status, headers.get('Location')]).toEqual([201, `${basePath}/v1/skills/${body.id}`])
    expect(body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'release-notes',
      description: 'Writes release notes.',
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: body.createdAt,
      files: [
        { id: expect.stringMatching(UUID), ...entryFile() },
        { id: expect.stringMatching(UUID), filename: 'scripts/run.sh', content: 'echo\n' },
      ],
    })
    expect(body.createdAt >= before && body.createdAt <= now()).toBe(true)
    expect(new Set([body.id, ...Object.values(idsOf(body.files))]).size).toBe(3)
    expect((await retrieve(body.id)).body).toEqual(body)
  })

  it.each<[string, readonly string[]]>([
    ['name', ['a', '7', '0-a-1', 'a'.repeat(64)]],
    ['description', ['x', 'a: b # c', '\u{1f550}'.repeat(1024)]],
    ['filename', ['a', '.a', '...', '..a/b..', 'a/b/c.md', 'a b/\u65e5 (1).md', 'q\'"?%#&']],
    ['filename', ['.gitignore', '.github/a', 'git', 'a.git', '.gitx', 'git~2', '.git-a', '.g\u200bit']],
    // As many bytes as ustar can hold.
    ['filename', ['\u{1f550}'.repeat(25), `${'a'.repeat(155)}/${'b'.repeat(99)}`, `${'a/'.repeat(77)}b`]],
  ])('accepts each valid %s', async (part, values) => {
    const { create, retrieve } = await withSkills()
    for (const [index, value] of values.entries()) {
      const change = part === 'filename' ? { files: [{ filename: value, content: '' }] } : { [part]: value }
      const { status, body } = await create({ name: `skill-${index}`, ...change })
      expect([status, body]).toEqual([201, expect.objectContaining(change.files ? {} : change)])
      if (change.files) expect(otherContents((await retrieve(body.id)).body.files)).toEqual({ [value]: '' })
    }
  })

  it.each<[string, readonly unknown[]]>([
    ['name', ['', 'a'.repeat(65), '-', '-a', 'a-', 'a--b', 'Aa', 'a_b', 'a.b', 'a b', 'a\n', '\u00e9', '\u0661', 7]],
    ['description', ['', 'x'.repeat(1025), 'a\0b', '\ud800', 7, null]],
    ['message', ['', 'x'.repeat(256), 'a\0b', '\ud800', 7, null]],
    ['filename', ['', 'x'.repeat(256), '/etc/passwd', 'a/', 'a//b', '.', '..', './a', '../a', 'a/.', 'a/../b']],
    ['filename', ['.git', '.git/config', 'a/.GIT/hooks/x', '.git./x', 'a/.git ', '.git::$DATA', '.g\u200cit/config']],
    ['filename', ['git~1/config', 'GIT~1 .', '\ufeff.git']],
    ['filename', ['a\\..\\b', 'C:\\a', 'a\0b', 'a\nb', 'a\u007f', 'a\ud800', 7, null]],
    // More bytes than ustar can hold.
    ['filename', ['\u{1f550}'.repeat(26), 'x'.repeat(101), `${'a'.repeat(156)}/b`, `a/${'b'.repeat(101)}`]],
    ['content', ['a\0b', '\ud83d', 'x'.repeat(MEBIBYTE + 1), `${'\u{1f550}'.repeat(MEBIBYTE / 4)}x`, 7, null]],
    ['content', ['data:application/octet-stream;base64,', 'data:application/octet-stream;base64,AAAA']],
    ['encoding', ['', 'utf8', 'UTF-8', 'BASE64', 'hex', 7, null]],
    ['executable', ['', 'true', 1, 0, null]],
  ])('refuses each invalid %s, and changes nothing', async (part, values) => {
    const { create, createRaw, updateRaw, rows } = await withSkills()
    const { id } = (await create()).body
    const before = await rows()
    const isOfFile = !['name', 'description', 'message'].includes(part)
    for (const value of values) {
      const file = { filename: 'a', content: '', [part]: value }
      const { files } = skillOf({ name: 'other' })
      const json = isOfFile ? { files: [...files, file] } : { files, [part]: value }
      const error = expect.stringMatching(
        new RegExp(`^${isOfFile ? `files\\.2\\.${part}` : part} (is|has|begins) .*; allowed: `),
      )
      for (const response of [await createRaw(json), await updateRaw(id, json)]) {
        expect([response.status, response.body]).toEqual([400, { error }])
      }
    }
    expect(await rows()).toEqual(before)
  })

  it.each([0, 24, 25, 499])('accepts %i files beside SKILL.md', async (count) => {
    const { create, retrieve, update } = await withSkills()
    const files = filesOf(...Array.from({ length: count }, (_, index) => `# ${index}\n`))
    const { status, body } = await create({ files })
    expect([status, otherContents(body.files)]).toEqual([201, contents(files)])
    expect((await update(body.id, { files })).body).toEqual(body)
    expect((await retrieve(body.id)).body.files).toEqual(body.files)
  })

  it('accepts files of 1 MiB, and 8 MiB in total', async () => {
    const { createRaw, retrieve } = await withSkills()
    const files = filesOf(
      'x'.repeat(MEBIBYTE),
      '\u00e9'.repeat(MEBIBYTE / 2),
      '\u{1f550}'.repeat(MEBIBYTE / 4),
      `${'\u65e5'.repeat((MEBIBYTE - 1) / 3)}x`,
      ...['a', 'b', 'c'].map((character) => character.repeat(MEBIBYTE)),
    )
    const { filename, content } = entryFile('large', 'Large.', '')
    const entry = { filename, content: content.padEnd(MEBIBYTE, '#') }
    const { status, body } = await createRaw({ files: [entry, ...files] })
    expect(status).toBe(201)
    const stored = contents((await retrieve(body.id)).body.files)
    for (const file of [entry, ...files]) expect(stored[file.filename] === file.content).toBe(true)
    const one = await createRaw({
      files: [entryFile('a'), ...files, { filename: 'x', content: `${entry.content}` }],
    })
    const { byteLength } = Buffer.from(entryFile('a').content)
    expect([one.status, one.body.error]).toEqual([
      400,
      `files is too large; got ${8 * MEBIBYTE + byteLength} bytes; allowed: up to 8 MiB of contents.`,
    ])
  })

  it('accepts 8 MiB of random bytes in base64', async () => {
    const { createRaw, retrieve } = await withSkills()
    const bytes = Array.from({ length: 7 }, () => crypto.getRandomValues(new Uint8Array(16_384)))
    const files = bytes.map((block, index) => ({
      filename: `${index}.bin`,
      content: Buffer.concat(Array(64).fill(block)).toString('base64'),
      encoding: 'base64' as const,
    }))
    const { status, body } = await createRaw({ files: [entryFile(), ...files] })
    expect(status).toBe(201)
    const stored = contents((await retrieve(body.id)).body.files)
    for (const { filename, content } of files) {
      expect(stored[filename] === `data:application/octet-stream;base64,${content}`).toBe(true)
    }
  })

  const named = (...filenames: string[]) => filenames.map((filename) => ({ filename, content: '' }))
  const SEVERAL = /^files has a filename several times; allowed: .* case\.$/

  it.each<[string, unknown, RegExp]>([
    [
      '501 files',
      [entryFile(), ...filesOf(...Array(500).fill(''))],
      /^files has too many items; got an array of length 501; allowed: an array of up to 500 files\.$/,
    ],
    ['no files', [], /^files has no SKILL\.md; allowed: files with a SKILL\.md, /],
    ['SKILL.md in lower case', named('skill.md'), /^files has no SKILL\.md; /],
    ['SKILL.md in a folder', named('a/SKILL.md'), /^files has no SKILL\.md; /],
    ['a filename twice', [entryFile(), ...named('b.md', 'a.md', 'b.md')], SEVERAL],
    ['filenames that differ in case', [entryFile(), ...named('skill.md')], SEVERAL],
    ['folders that differ in case', [entryFile(), ...named('Docs/a.md', 'docs/A.md')], SEVERAL],
    ['filenames that differ in the case of \u00c9', [entryFile(), ...named('\u00c9.md', '\u00e9.md')], SEVERAL],
    ['filenames that differ in the case of \u03a3', [entryFile(), ...named('\u03a3.md', '\u03c2.md')], SEVERAL],
    ['filenames that differ in the case of \u1e9e', [entryFile(), ...named('\u1e9e.md', '\u00df.md')], SEVERAL],
    ['filenames that differ in Unicode form', [entryFile(), ...named('\u00e9.md', 'e\u0301.md')], SEVERAL],
    [
      'a filename that is a folder',
      [entryFile(), ...named('a', 'a/b')],
      /^files has a filename that is a folder of another;/,
    ],
    ['a file without content', [entryFile(), { filename: 'a' }], /^files\.1\.content is missing;/],
    [
      'a file with one property more',
      [entryFile(), { filename: 'a', content: '', id: 'x' }],
      /^files\.1\.id is not a known property;/,
    ],
    ['files by name', { 'SKILL.md': '' }, /^files is not an array;/],
  ])('refuses %s, with nothing changed', async (_, files, error) => {
    const { create, createRaw, updateRaw, rows } = await withSkills()
    const { id } = (await create({ name: 'old' })).body
    const before = await rows()
    for (const response of [await createRaw({ files }), await updateRaw(id, { files })]) {
      expect([response.status, response.body]).toEqual([400, { error: expect.stringMatching(error) }])
    }
    expect(await rows()).toEqual(before)
  })

  it('refuses a body without files, or with an unknown property', async () => {
    const { createRaw, rows } = await withSkills()
    const missing = await createRaw({ name: 'a', description: 'a' })
    expect([missing.status, missing.body.error]).toEqual([400, expect.stringContaining('files is missing;')])
    expect((await createRaw({ ...skillOf(), id: crypto.randomUUID() })).body).toEqual({
      error: 'id is not a known property; known: name, description, files, message.',
    })
    expect(await rows()).toEqual({ skills: [], versions: [], contents: [] })
  })

  it('accepts a body of 16 MiB, and refuses a longer one before reading it', async () => {
    const { create, update } = await withSkills()
    const declared = (body: BodyInit, bytes: number) => ({
      json: undefined,
      body,
      headers: { 'Content-Type': 'application/json', 'Content-Length': String(bytes) },
    })
    const limit = 16 * MEBIBYTE
    const created = await create({}, declared(JSON.stringify(skillOf()).padEnd(limit), limit))
    expect(created.status).toBe(201)
    const change = JSON.stringify(skillOf({ description: 'Longer.' })).padEnd(limit)
    expect((await update(created.body.id, undefined, declared(change, limit))).status).toBe(200)
    let pulled = 0
    const stream = () => new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 })
    expect((await create({}, declared(stream(), limit + 1))).status).toBe(413)
    expect((await update(created.body.id, undefined, declared(stream(), limit + 1))).status).toBe(413)
    expect(pulled).toBe(0)
  })

  it('stores contents exactly as sent', async () => {
    const { create, retrieve, update } = await withSkills()
    const { body } = await create({ files: filesIn(CONTENTS) })
    expect(otherContents(body.files)).toEqual(CONTENTS)
    expect(otherContents((await retrieve(body.id)).body.files)).toEqual(CONTENTS)
    const values = Object.values(CONTENTS).reverse()
    const changed = Object.fromEntries(Object.keys(CONTENTS).map((name, index) => [name, values[index] ?? '']))
    await update(body.id, { files: filesIn(changed) })
    expect(otherContents((await retrieve(body.id)).body.files)).toEqual(changed)
  })

  it('refuses the name of another skill, and leaves that skill alone', async () => {
    const { create, rows } = await withSkills()
    await create()
    const before = await rows()
    const { status, body } = await create({ description: 'Other.', files: filesOf('other') })
    expect([status, body.error]).toEqual([409, expect.stringMatching(/^Another skill has this name\./)])
    expect(await rows()).toEqual(before)
    const stranger = await withSkills()
    expect((await stranger.create()).status).toBe(201)
  })

  it('creates one skill from concurrent requests with the same name, with only its own files', async () => {
    const { create, retrieve, rows } = await withSkills()
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create({ files: [{ filename: `${index}.md`, content: '' }] })),
    )
    expect(statuses(responses)).toEqual([201, ...Array(19).fill(409)])
    const created = responses.find(({ status }) => status === 201)?.body
    expect((await retrieve(created.id)).body).toEqual(created)
    expect(created.files).toHaveLength(2)
    const { skills, versions, contents } = await rows()
    expect([skills.length, versions.length, contents.length]).toEqual([1, 1, 2])
  })
})

describe('the Idempotency-Key of createSkill', () => {
  const repeated = (key = 'first') => ({ headers: { 'Idempotency-Key': key } })

  it('returns the skill as it is now for an equal body, and creates none', async () => {
    const { create, retrieve, update, rows } = await withSkills()
    const first = await create({}, repeated())
    const second = await create({}, repeated())
    expect([second.status, second.body]).toEqual([201, first.body])
    expect(second.headers.get('Location')).toBe(first.headers.get('Location'))
    await update(first.body.id, { name: 'changed', files: filesOf('new') })
    const before = await rows()
    const third = await create({}, repeated())
    expect([third.status, third.body]).toEqual([201, (await retrieve(first.body.id)).body])
    expect(await rows()).toEqual(before)
  })

  it.each([
    ['name', { name: 'other' }],
    ['description', { description: 'Other.' }],
    ['content', { files: [{ ...SCRIPT, content: 'other' }] }],
    ['executable bit', { files: [{ ...SCRIPT, executable: true }] }],
    ['number of files', { files: [] }],
  ])('refuses another %s', async (_, change) => {
    const { create, rows } = await withSkills()
    await create({}, repeated())
    const before = await rows()
    const { status, body } = await create(change, repeated())
    expect([status, body.error]).toEqual([
      409,
      expect.stringMatching(/^This Idempotency-Key was used with another body\./),
    ])
    expect(await rows()).toEqual(before)
  })

  it('creates one skill from concurrent requests', async () => {
    const { create, rows } = await withSkills()
    const responses = await Promise.all(Array.from({ length: 20 }, () => create({}, repeated())))
    expect(statuses(responses)).toEqual(Array(20).fill(201))
    for (const { body } of responses) expect(body).toEqual(responses[0]?.body)
    const { skills, versions, contents } = await rows()
    expect([skills.length, versions.length, contents.length]).toEqual([1, 1, 2])
  })

  it('belongs to the organization, and ends with the skill', async () => {
    const { create, remove } = await withSkills()
    const stranger = await withSkills()
    const theirs = await stranger.create({}, repeated())
    const first = await create({}, repeated())
    expect(first.status).toBe(201)
    expect(first.body.id).not.toBe(theirs.body.id)
    expect((await create({ name: 'other' }, repeated('second'))).status).toBe(201)
    expect((await create({}, repeated('third'))).status).toBe(409)
    await remove(first.body.id)
    const again = await create({ description: 'Other.' }, repeated())
    expect(again.status).toBe(201)
    expect(again.body.id).not.toBe(first.body.id)
  })

  it('accepts 1 to 255 characters', async () => {
    const { create } = await withSkills()
    expect((await create({}, repeated('k'.repeat(255)))).status).toBe(201)
    for (const key of ['', 'k'.repeat(256)]) {
      expect((await create({ name: 'other' }, repeated(key))).status).toBe(400)
    }
  })
})

describe('listSkills', () => {
  it('lists the skills in order of creation, without their files', async () => {
    const { create, list } = await withSkills()
    const expected = []
    for (const name of ['b', 'c', 'a']) {
      const { files, ...summary } = (await create({ name })).body
      expected.push(summary)
    }
    const { status, body } = await list()
    expect([status, body]).toEqual([200, { items: expected, nextCursor: null }])
  })

  it('lists the skill with a name, exactly as it is among all', async () => {
    const { create, list } = await withSkills()
    await (await withSkills()).create({ name: 'notes' })
    for (const name of ['release-notes', 'notes-2', 'a']) await create({ name })
    expect((await list('?name=notes')).body).toEqual({ items: [], nextCursor: null })
    await create({ name: 'notes' })
    const { items } = (await list()).body
    for (const query of ['?name=notes', '?name=notes&limit=1', `?name=notes&cursor=${items[2].id}`])
      expect((await list(query)).body).toEqual({ items: [items[3]], nextCursor: null })
    const after = (await list(`?name=notes&cursor=${items[3].id}`)).body
    expect(after).toEqual({ items: [], nextCursor: null })
  })

  it.each(['', 'Notes', 'notes-', 'a'.repeat(65), 'notes&name=a'])('takes no name %j', async (name) => {
    const { list } = await withSkills()
    const { status, body } = await list(`?name=${name}`)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^name (has|is) /) }])
  })

  it('is empty for an organization without skills, whatever other organizations have', async () => {
    const { list } = await withSkills()
    await (await withSkills()).create()
    expect((await list()).body).toEqual({ items: [], nextCursor: null })
  })

  it('lists in pages, also while skills are deleted', async () => {
    const { create, list, remove } = await withSkills()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push((await create({ name })).body.id)
    const first = (await list('?limit=2')).body
    expect(first.nextCursor).toBe(ids[1])
    await remove(first.nextCursor)
    const second = (await list(`?limit=2&cursor=${first.nextCursor.toUpperCase()}`)).body
    const third = (await list(`?limit=2&cursor=${second.nextCursor}`)).body
    expect(third.nextCursor).toBe(null)
    const walked = [first, second, third].flatMap(({ items }) => items)
    expect(walked.map(({ id }) => id)).toEqual(ids)
  })

  it('has pages of 50 by default, and of up to 1,000', async () => {
    const { workspace, list } = await withSkills()
    await workspace.addSkills(1001)
    expect((await list()).body.items).toHaveLength(50)
    for (const limit of ['1000', '1001']) {
      const { items, nextCursor } = (await list(`?limit=${limit}`)).body
      expect([items.length, nextCursor]).toEqual([1000, items[999].id])
    }
  })

  it.each(['limit=0', 'limit=-1', 'limit=x', 'limit=', 'limit=1&limit=1', 'cursor=', 'cursor=release-notes'])(
    'refuses the query %s',
    async (query) => {
      const { list } = await withSkills()
      expect((await list(`?${query}`)).status).toBe(400)
    },
  )
})

describe('updateSkill', () => {
  /** A skill that was created long ago. */
  async function withOldSkill() {
    const skills = await withSkills()
    const { id } = (await skills.create()).body
    const long = '2020-01-01T00:00:00.000Z'
    await skills.workspace.change(tables.skills, id, { createdAt: long, updatedAt: long })
    const { headers, body } = await skills.retrieve(id)
    return { ...skills, id, old: body, oldTag: headers.get('ETag') }
  }

  it.each<[string, { name?: string; description?: string }]>([
    ['name', { name: 'changed' }],
    ['description', { description: 'Changed.' }],
  ])('changes only the %s', async (_, change) => {
    const { id, old, oldTag, update, retrieve } = await withOldSkill()
    const before = now()
    const { status, body } = await update(id.toUpperCase(), change)
    const { content } = entryFile(change.name, change.description)
    const files = [{ ...old.files[0], content }, old.files[1]]
    const expected = { ...old, ...change, files, updatedAt: expect.stringMatching(INSTANT) }
    expect([status, body]).toEqual([200, expected])
    expect(body.updatedAt >= before && body.updatedAt <= now()).toBe(true)
    const after = await retrieve(id, { headers: { 'If-None-Match': oldTag ?? '' } })
    expect([after.status, after.body]).toEqual([200, body])
    expect(after.headers.get('ETag')).not.toBe(oldTag)
  })

  it('replaces all files; a file that keeps its filename keeps its id', async () => {
    const { id, old, oldTag, updateRaw, retrieve } = await withOldSkill()
    const files = [
      { filename: 'new.md', content: 'new' },
      entryFile('release-notes', 'Writes release notes.', '# Changed\r\n'),
      { filename: 'Scripts/run.sh', content: 'echo\n' },
    ]
    await waitPast(old.updatedAt)
    const { status, body } = await updateRaw(id, { files })
    expect(status).toBe(200)
    const { files: changed, updatedAt, ...rest } = body
    expect({ ...old, ...rest }).toEqual(old)
    expect(updatedAt > old.updatedAt).toBe(true)
    expect(contents(changed)).toEqual(contents(files))
    expect(idsOf(changed)['SKILL.md']).toBe(idsOf(old.files)['SKILL.md'])
    expect(Object.values(idsOf(old.files))).not.toContain(idsOf(changed)['Scripts/run.sh'])
    const after = await retrieve(id)
    expect(after.body).toEqual(body)
    expect(after.headers.get('ETag')).not.toBe(oldTag)
  })

  it('changes all fields at once, and leaves other skills alone', async () => {
    const { id, old, create, retrieve, update } = await withOldSkill()
    const other = (await create({ name: 'other' })).body
    const change = { name: 'changed', description: 'Changed.', files: [{ filename: 'a', content: 'b' }] }
    expect((await update(id, change)).body).toEqual({
      ...old,
      ...change,
      files: [
        { id: expect.stringMatching(UUID), ...entryFile('changed', 'Changed.') },
        { id: expect.stringMatching(UUID), filename: 'a', content: 'b' },
      ],
      updatedAt: expect.stringMatching(INSTANT),
    })
    expect((await retrieve(other.id)).body).toEqual(other)
  })

  it('refuses the name of another skill, and changes nothing', async () => {
    const { id, create, update, rows } = await withOldSkill()
    await create({ name: 'taken' })
    const before = await rows()
    const { status, body } = await update(id, {
      name: 'taken',
      description: 'Changed.',
      files: filesOf('new'),
    })
    expect([status, body.error]).toEqual([409, expect.stringMatching(/^Another skill has this name\./)])
    expect(await rows()).toEqual(before)
    expect((await update(id, { name: 'release-notes' })).status).toBe(200)
    await (await withSkills()).create({ name: 'theirs' })
    expect((await update(id, { name: 'theirs' })).status).toBe(200)
    expect((await create({ name: 'release-notes' })).status).toBe(201)
  })

  it('gives a name to one of several concurrent requests', async () => {
    const { create, update, list } = await withSkills()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) ids.push((await create({ name })).body.id)
    expect(statuses(await Promise.all(ids.map((id) => update(id, { name: 'taken' }))))).toEqual([200, 409, 409, 409])
    const names = (await list()).body.items.map(({ name }: { name: string }) => name)
    expect(new Set(names).size).toBe(4)
  })

  it('never mixes the files of concurrent changes', async () => {
    const { id, update, retrieve } = await withOldSkill()
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => update(id, { files: filesOf(...Array(index).fill(`${index}`)) })),
    )
    for (const [index, { status, body }] of responses.entries()) {
      expect([status, otherContents(body.files)]).toEqual([200, contents(filesOf(...Array(index).fill(`${index}`)))])
    }
    const after = contents((await retrieve(id)).body.files)
    expect(responses.map(({ body }) => contents(body.files))).toContainEqual(after)
  })

  it.each([
    [{}],
    [{ name: 'a' }],
    [{ message: 'a' }],
    [{ files: [] }],
    [{ ...skillOf(), extra: 1 }],
    [[]],
    [null],
    [{ files: null }],
  ])('refuses the body %j', async (change) => {
    const { id, updateRaw, rows } = await withOldSkill()
    const before = await rows()
    expect((await updateRaw(id, change)).status).toBe(400)
    expect(await rows()).toEqual(before)
  })
})

describe('deleteSkill', () => {
  it('deletes the skill and its files, and no others', async () => {
    const { workspace, create, remove, retrieve, list, rows } = await withSkills()
    const other = (await create({ name: 'other' })).body
    const before = await rows()
    const { id } = (await create()).body
    const { status, body } = await remove(id.toUpperCase())
    expect([status, body]).toEqual([200, { deleted: true, id }])
    expect((await rows()).skills).toEqual(before.skills)
    await workspace.endUndo()
    await tick(env, new Date())
    expect(await rows()).toEqual(before)
    expect((await retrieve(id)).status).toBe(404)
    expect((await list()).body.items.map((item: { id: string }) => item.id)).toEqual([other.id])
    expect((await create()).status).toBe(201)
  })

  it('returns 404 for a deleted skill, and to all but one of concurrent deletions', async () => {
    const { create, remove } = await withSkills()
    const { id } = (await create()).body
    const responses = await Promise.all(Array.from({ length: 5 }, () => remove(id)))
    expect(statuses(responses)).toEqual([200, 404, 404, 404, 404])
  })

  it('leaves no file behind if the skill is changed at the same time', async () => {
    const { workspace, create, update, remove, rows } = await withSkills()
    const { id } = (await create()).body
    const responses = await Promise.all([
      update(id, { files: filesOf('a') }),
      remove(id),
      update(id, { files: filesOf('b', 'c') }),
    ])
    expect(responses[1]?.status).toBe(200)
    await workspace.endUndo()
    await tick(env, new Date())
    expect(await rows()).toEqual({ skills: [], versions: [], contents: [] })
  })
})

describe('createSkill, updateSkill and deleteSkill', () => {
  const CHANGE = { name: 'changed', description: 'Changed.', files: filesOf('changed') }

  it('return the same 404 for a skill of another organization as for one that does not exist', async () => {
    const { workspace, create, rows } = await withSkills()
    const { id } = (await create()).body
    const stranger = await withSkills()
    // A skill with the same id: what is done to it stays there.
    await stranger.workspace.addSkill({ 'file-0.md': 'theirs' }, crypto.randomUUID(), 'changed')
    const [before, theirs] = [await rows(), await stranger.rows()]
    for (const act of [stranger.remove, (other: string) => stranger.update(other, CHANGE)]) {
      const missing = await act(crypto.randomUUID())
      expect(missing.status).toBe(404)
      const response = await act(id)
      expect([response.status, response.body]).toEqual([404, missing.body])
    }
    expect([await rows(), await stranger.rows()]).toEqual([before, theirs])
    await stranger.workspace.addSkill({ 'SKILL.md': 'theirs' }, id)
    expect((await stranger.update(id, { files: filesOf('theirs') })).status).toBe(200)
    expect((await stranger.remove(id)).status).toBe(200)
    expect(await rows()).toEqual(before)
    expect(await workspace.dump('skills')).toHaveLength(1)
  })

  it('allow an API key with the scope skills:write, without a user and restricted to no project', async () => {
    const { workspace, create, update, remove } = await withSkills()
    const key = await workspace.addKey({ userId: null, projectIds: [], scopes: ['skills:write'] })
    const { status, body } = await create({}, { key })
    expect(status).toBe(201)
    expect((await update(body.id, CHANGE, { key })).status).toBe(200)
    expect((await remove(body.id, { key })).status).toBe(200)
  })

  it('change nothing for an API key that may only read', async () => {
    const { workspace, create, update, remove, list, rows } = await withSkills()
    const { id } = (await create()).body
    const before = await rows()
    const key = await workspace.addKey({ scopes: ['skills:read'] })
    for (const response of [
      await create({ name: 'other' }, { key }),
      await update(id, CHANGE, { key }),
      await remove(id, { key }),
    ]) {
      expect([response.status, response.body.error]).toEqual([400, expect.stringContaining('skills:write')])
    }
    expect((await list('', { key })).status).toBe(200)
    expect(await rows()).toEqual(before)
  })

  it.each([
    [503, 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.'],
    [500, 'D1_ERROR: no such table: skills: SQLITE_ERROR'],
  ])('return %i if the database fails with: %s', async (status, message) => {
    const { create, update, remove, list, rows } = await withSkills()
    const { id } = (await create()).body
    const before = await rows()
    const environment = { DB: failingDatabase(new Error(message)) }
    for (const response of [
      await list('', { environment }),
      await create({ name: 'other' }, { environment }),
      await update(id, CHANGE, { environment }),
      await remove(id, { environment }),
    ]) {
      expect([response.status, response.headers.has('Retry-After')]).toEqual([status, status === 503])
    }
    expect(await rows()).toEqual(before)
  })
})
