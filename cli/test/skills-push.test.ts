import { chmodSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { v7 as newUuid } from 'uuid'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { Service } from '../../scripts/service.ts'
import { runWorkspace } from '../../test/support/commands.ts'
import { freePort, newFolder } from '../../test/support/dev-server.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { startProxy } from './support/proxy.ts'
import { type Content, entry, writeFiles } from './support/skill-folders.ts'

let running: SharedService
let url: string
/** The API key of one organization. */
let key: string
let service: Service

beforeAll(async () => {
  // More skills than a page has: the quota has to be larger, too.
  running = await sharedService()
  url = running.url
  key = (await running.addOrganization()).apiKey
  service = new Service(url, key)
})

/** A new folder for each test. */
let folder: string
beforeEach(() => {
  folder = newFolder()
  return () => rmSync(folder, { recursive: true })
})

/** Writes files below the folder of the test. @returns the path of the folder in it. */
const write = (name: string, files: Readonly<Record<string, Content>>) => writeFiles(join(folder, name), files)

/** Runs the command in the folder of the test. */
async function push(folders: readonly string[], flags: readonly string[] = [], login = {}) {
  const args = ['skills', 'push', ...folders, ...flags]
  const { status, stdout, stderr } = await runWorkspace(args, { url, apiKey: key, ...login }, {}, folder)
  const lines = (text: string) => text.split('\n').slice(0, -1)
  return { status, printed: lines(stdout), failed: lines(stderr) }
}

const pushed = (...printed: string[]) => ({ status: 0, printed, failed: [] })

interface Skill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly updatedAt: string
  readonly files: readonly { readonly id: string; readonly filename: string; readonly content: string }[]
}

interface Version {
  readonly version: number
  readonly message: string | null
  readonly files: readonly {
    readonly filename: string
    readonly content: string
    readonly executable: boolean
  }[]
}

/** The skill of this name, as the service has it. */
async function retrieve(name: string) {
  const { body } = await service.send<{ items: Skill[] }>('GET', `/v1/skills?name=${name}`)
  const path = `/v1/skills/${body.items[0]?.id}`
  const skill = (await service.send<Skill>('GET', path)).body
  const contents = Object.fromEntries(skill.files.map(({ filename, content }) => [filename, content]))
  const versions = (await service.send<{ items: Version[] }>('GET', `${path}/versions`)).body.items
  return { ...skill, contents, versions, path }
}

it('publishes a folder with all files below it, byte for byte', async () => {
  const files = {
    'SKILL.md': entry('whole', '"Writes: \\u00e9."'),
    'a/b/c.md': 'deep',
    'bom.txt': '\ufeffwith a mark',
    'crlf.txt': 'a\r\nb\rc\n\n',
    'empty.txt': '',
    'sub/SKILL.md': entry('sub'),
    '\u65e5\u672c (1).txt': '\u{1f469}\u200d\u{1f680} \u0001\u001b no last line',
  }
  expect(await push([write('whole', files)])).toEqual(pushed('created   whole, 7 files'))
  const { description, contents } = await retrieve('whole')
  expect(description).toBe('Writes: \u00e9.')
  expect(contents).toEqual(files)
})

it('publishes files that are not text, and executable bits', async () => {
  const dataUrl = 'data:application/octet-stream;base64,AAAA'
  const path = write('lossless', {
    'SKILL.md': entry('lossless'),
    'bin/run.sh': '#!/bin/sh\n',
    'latin.txt': Uint8Array.of(0x61, 0xe9),
    'nul.md': 'a\0b',
    'url.txt': dataUrl,
  })
  expect(await push([path])).toEqual(pushed('created   lossless, 5 files'))
  const skill = await retrieve('lossless')
  const shown = (bytes: Content) =>
    `data:application/octet-stream;base64,${Buffer.from(bytes as Uint8Array).toString('base64')}`
  expect(skill.contents).toEqual({
    'SKILL.md': entry('lossless'),
    'bin/run.sh': '#!/bin/sh\n',
    'latin.txt': shown(Uint8Array.of(0x61, 0xe9)),
    'nul.md': shown('a\0b'),
    'url.txt': shown(dataUrl),
  })
  const { body } = await service.send<Version>('GET', `${skill.path}/versions/1`)
  expect(body.files.filter(({ executable }) => executable).map(({ filename }) => filename)).toEqual(['bin/run.sh'])

  chmodSync(join(path, 'bin/run.sh'), 0o644)
  expect(await push([path])).toEqual(pushed('updated   lossless, 5 files'))
  expect(await push([path])).toEqual(pushed('unchanged lossless, 5 files'))
  expect((await retrieve('lossless')).versions).toHaveLength(2)
})

it('names the change that makes a version', async () => {
  const path = write('told', { 'SKILL.md': entry('told') })
  const flags = ['--message']
  expect(await push([path], [...flags, 'The first.'])).toEqual(pushed('created   told, 1 file'))
  write('told', { 'a.md': '' })
  expect(await push([path], [...flags, 'The second.'])).toEqual(pushed('updated   told, 2 files'))
  expect((await retrieve('told')).versions.map(({ message }) => message)).toEqual(['The second.', 'The first.'])
  expect(await push([path], [...flags, 'x'.repeat(256)])).toEqual({
    status: 1,
    printed: [],
    failed: [expect.stringMatching(/^failed {4}.*told: message is too long; got 256 characters/)],
  })
})

it('pushes again only what changed', async () => {
  const files = { 'SKILL.md': entry('again'), 'a.md': 'a', 'b.md': 'b' }
  const path = write('again', files)
  expect(await push([path])).toEqual(pushed('created   again, 3 files'))
  const first = await retrieve('again')
  expect(await push([path])).toEqual(pushed('unchanged again, 3 files'))
  expect(await retrieve('again')).toEqual(first)

  rmSync(join(path, 'a.md'))
  write('again', { 'b.md': 'changed' })
  expect(await push([path])).toEqual(pushed('updated   again, 2 files'))
  const second = await retrieve('again')
  expect(second.contents).toEqual({ 'SKILL.md': files['SKILL.md'], 'b.md': 'changed' })
  expect(second.files[1]?.id).toBe(first.files[2]?.id)

  expect(second.versions).toHaveLength(2)

  // The latest version is not the current one.
  await service.send('POST', `${first.path}/publish`, { version: 1 })
  expect(await push([path])).toEqual(pushed('outdated  again, 2 files'))
  expect(await push([path], ['--force'])).toEqual(pushed('updated   again, 2 files'))
  const third = await retrieve('again')
  expect(third.contents).toEqual(second.contents)
  await service.send('POST', `${first.path}/publish`, { version: 2 })
  expect(await push([path])).toEqual(pushed('unchanged again, 2 files'))
  expect((await retrieve('again')).versions).toHaveLength(3)
})

it('overwrites nothing that someone else changed meanwhile', async () => {
  const path = write('raced', { 'SKILL.md': entry('raced') })
  await push([path])
  write('raced', { 'a.md': 'mine' })
  let changes = 0
  const proxy = await startProxy(url, async ({ method, url: target }) => {
    const content = entry('raced', `Their change ${++changes}.`)
    if (method === 'PATCH') await service.send('PATCH', target, { files: [{ filename: 'SKILL.md', content }] })
    return undefined
  })
  const refused = (words: unknown) => ({ status: 1, printed: [], failed: [words] })
  expect(await push(['raced'], [], { url: proxy.url })).toEqual(
    refused(expect.stringMatching(/^failed {4}raced: changed here, and on the service: version 2 by /)),
  )
  expect(await push(['raced'], ['--force'], { url: proxy.url })).toEqual(
    refused('failed    raced: someone else changed the skill in the meantime; nothing was overwritten, push again'),
  )
  await proxy.close()
  const skill = await retrieve('raced')
  expect([skill.description, skill.versions.length]).toEqual([`Their change ${changes}.`, 3])
})

it('overwrites nothing from a folder that has never seen the skill', async () => {
  await push([write('mine/seen', { 'SKILL.md': entry('seen'), 'a.md': 'mine' })])
  const start =
    /^failed {4}theirs\/seen: the service has this skill with other files, and it was never pulled here: version 1 by the API key \S+, made at 20\S+Z, is current\. To merge it: /
  const next = 'workspace skills pull theirs seen; --force publishes without it'
  const theirs = write('theirs/seen', { 'SKILL.md': entry('seen'), 'a.md': 'theirs' })
  for (const flags of [[], ['--dry-run']]) {
    const { status, printed, failed } = await push(['theirs/seen'], flags)
    expect([status, printed.filter((line) => !line.startsWith('Nothing was changed'))]).toEqual([1, []])
    expect(failed).toEqual([expect.stringMatching(start)])
    expect(failed[0]?.replace(start, '')).toBe(next)
  }
  expect((await retrieve('seen')).versions).toHaveLength(1)
  expect(await push([theirs], ['--force'])).toEqual(pushed('updated   seen, 2 files'))
  // Both have seen it now.
  write('theirs/seen', { 'a.md': 'theirs again' })
  expect(await push([theirs])).toEqual(pushed('updated   seen, 2 files'))
  write('mine/seen', { 'a.md': 'mine again' })
  expect((await push(['mine'])).failed).toEqual([expect.stringContaining(': changed here, and on the service: ')])

  // A fresh checkout has no records; equal files need none.
  const fresh = write('fresh/seen', { 'SKILL.md': entry('seen'), 'a.md': 'theirs again' })
  expect(await push([fresh])).toEqual(pushed('unchanged seen, 2 files'))
  write('fresh/seen', { 'a.md': 'fresh' })
  expect(await push([fresh])).toEqual(pushed('updated   seen, 2 files'))
})

it('takes a skill of the same name in another organization for another skill', async () => {
  const { apiKey } = await running.addOrganization()
  await push([write('their/shared', { 'SKILL.md': entry('shared', 'Theirs.') })], [], { apiKey })
  const path = write('mine/shared', { 'SKILL.md': entry('shared') })
  expect(await push([path])).toEqual(pushed('created   shared, 1 file'))
  expect((await push([path], [], { apiKey })).failed).toEqual([expect.stringContaining('it was never pulled here')])
})

it('remembers a skill whose folder has another name', async () => {
  const path = write('folder', { 'SKILL.md': entry('other-name') })
  expect(await push([path])).toEqual(pushed('created   other-name, 1 file'))
  const pull = await runWorkspace(['skills', 'pull', '.', 'other-name'], { url, apiKey: key }, {}, folder)
  expect(pull.stdout).toBe('created   other-name, 1 file\n')
  write('folder', { 'a.md': 'a' })
  expect(await push([path])).toEqual(pushed('updated   other-name, 2 files'))
  write('copy', { 'SKILL.md': entry('other-name') })
  expect((await push(['copy'])).failed).toEqual([
    expect.stringMatching(
      /To merge it: rename the folder to other-name, and run workspace skills pull \. other-name; /,
    ),
  ])
  // Its folder is not taken for that of a deleted skill.
  const again = await runWorkspace(['skills', 'pull', '.'], { url, apiKey: key }, {}, folder)
  expect(again.stdout).toBe('updated   other-name, 2 files\n')
})

it('keeps the files of a folder whose name another skill has, when that one is pulled', async () => {
  const path = write('team/alpha', { 'SKILL.md': entry('beta'), 'notes.md': 'ours' })
  expect(await push([path])).toEqual(pushed('created   beta, 2 files'))
  expect(await push([write('elsewhere/alpha', { 'SKILL.md': entry('alpha', 'Another.') })])).toEqual(
    pushed('created   alpha, 1 file'),
  )
  const pull = await runWorkspace(['skills', 'pull', 'team', 'alpha'], { url, apiKey: key }, {}, folder)
  expect(pull.status).toBe(1)
  expect(pull.stderr).toContain('the folder has another skill; move it away, or pull with --force')
  expect(readFileSync(join(path, 'SKILL.md'), 'utf8')).toBe(entry('beta'))
  expect(readFileSync(join(path, 'notes.md'), 'utf8')).toBe('ours')
})

it('warns if it cannot record what it published', async () => {
  const path = write('mine/unrecorded', { 'SKILL.md': entry('unrecorded') })
  const records = join(folder, 'mine', '.workspace-skills')
  write('mine', { '.workspace-skills': 'a file' })
  expect(await push([path])).toEqual({
    status: 0,
    printed: ['created   unrecorded, 1 file'],
    failed: [
      `warning   unrecorded: the push was not recorded, so the next one needs a pull or --force: ${records} cannot be written: it is not a folder.`,
    ],
  })
})

it('publishes the skills of a collection, at any depth', async () => {
  write('all', { 'README.md': '# All', 'docs/guide.md': '# Guide' })
  for (const name of ['one', 'deep/er/two', 'node_modules/not', '.git/neither'])
    write(`all/${name}`, { 'SKILL.md': entry(name.replace(/.*\//, '')) })
  const three = write('three', { 'SKILL.md': entry('three') })
  symlinkSync(three, join(folder, 'all', 'link'))
  expect(await push(['all', 'three', 'all'])).toEqual({
    status: 1,
    printed: ['created   two, 1 file', 'created   one, 1 file', 'created   three, 1 file'],
    failed: ['failed    all/link: a symbolic link; --allow-skips leaves it out'],
  })
  expect(await push(['all'], ['--allow-skips'])).toEqual(
    pushed('unchanged two, 1 file', 'skipped   all/link: a symbolic link', 'unchanged one, 1 file'),
  )
})

it('only says what it would do in a dry run', async () => {
  const flags = ['--dry-run']
  const nothing = 'Nothing was changed: this was a dry run.'
  const path = write('dry', { 'SKILL.md': entry('dry') })
  expect(await push([path], flags)).toEqual(pushed('to create dry, 1 file', nothing))
  expect(await push([path])).toEqual(pushed('created   dry, 1 file'))
  expect(await push([path], flags)).toEqual(pushed('unchanged dry, 1 file', nothing))
  write('dry', { 'new.md': 'new' })
  expect(await push([path], flags)).toEqual(pushed('to update dry, 2 files', nothing))
  expect(Object.keys((await retrieve('dry')).contents)).toEqual(['SKILL.md'])
})

it('leaves out links, if it may, and what belongs to Git and the Finder', async () => {
  const path = write('mixed', {
    'SKILL.md': entry('mixed'),
    'assets/.DS_Store': 'x',
    '.git/HEAD': 'x',
    'assets/.git': 'x',
    '.gitignore': 'kept',
  })
  symlinkSync(join(path, '.gitignore'), join(path, 'link.md'))
  symlinkSync(path, join(path, 'assets', 'loop'))
  const skipped = ['skipped   mixed/assets/loop: a symbolic link', 'skipped   mixed/link.md: a symbolic link']
  expect(await push(['mixed'])).toEqual({
    status: 1,
    printed: skipped,
    failed: ['failed    mixed: 2 files would be left out; --allow-skips publishes the skill without'],
  })
  expect(await push(['mixed'], ['--allow-skips'])).toEqual(pushed(...skipped, 'created   mixed, 2 files'))
  expect(Object.keys((await retrieve('mixed')).contents)).toEqual(['.gitignore', 'SKILL.md'])
})

it('refuses what a file system may take for a repository', async () => {
  write('short', { 'SKILL.md': entry('short'), 'git~1/config': 'x' })
  const { status, failed } = await push(['short'])
  expect([status, failed]).toEqual([
    1,
    [expect.stringMatching(/^failed {4}short: git~1\/config\.filename has a segment that Git takes for /)],
  ])
})

it.each([
  ['crlf', '---\r\nname: crlf\r\ndescription: Writes notes.\r\n---\r\nText'],
  ['mark', '\ufeff---\nname: mark\ndescription: Writes notes.\n---\nText'],
  ['folded', '---\nname: folded\ndescription: >\n  Writes\n  notes.\nlicense: MIT\n---\nText\n---\n'],
  ['bare', '---\nname: bare\ndescription: |\n  Writes notes.\n---'],
])('reads the front matter of %s', async (name, content) => {
  expect((await push([write(name, { 'SKILL.md': content })])).status).toBe(0)
  const skill = await retrieve(name)
  expect([skill.description, skill.contents]).toEqual(['Writes notes.', { 'SKILL.md': content }])
})

it('says what is wrong with a skill, and publishes the others', async () => {
  const skills: Record<string, Record<string, Content>> = {
    'a-text': { 'SKILL.md': '# Notes\n---\nname: text\n---\n' },
    'b-open': { 'SKILL.md': '---\nname: open\ndescription: Never ends.\n' },
    'c-yaml': { 'SKILL.md': '---\nname: yaml\ndescription: Use when: asked\n---\n' },
    'd-list': { 'SKILL.md': '---\n- name\n---\n' },
    'e-name': { 'SKILL.md': entry('Wrong_Name') },
    'f-long': { 'SKILL.md': entry('long', 'x'.repeat(1025)) },
    'g-large': {
      'SKILL.md': entry('large'),
      'a/big.txt': '\u00e9'.repeat(2 ** 19),
      'b.bin': new Uint8Array(2 ** 20 + 1),
    },
    'i-binary': { 'SKILL.md': Uint8Array.of(0xff) },
    'j-good': { 'SKILL.md': entry('good') },
    'k-twin': { 'SKILL.md': entry('good', 'Another one.') },
    'l-good': { 'SKILL.md': entry('as-good') },
  }
  for (const [name, files] of Object.entries(skills)) write(`all/${name}`, files)
  write('none', { 'docs/guide.md': '' })
  const { status, printed, failed } = await push(['missing', 'all', 'none'])
  expect(status).toBe(1)
  expect(printed).toEqual(['created   good, 1 file', 'created   as-good, 1 file'])
  expect(failed).toEqual([
    'failed    missing: there is no such folder',
    expect.stringMatching(/^failed {4}all\/a-text: SKILL\.md, line 1: front matter is missing; got "# Notes"/),
    expect.stringMatching(/^failed {4}all\/b-open: SKILL\.md, line 1: front matter does not end/),
    expect.stringMatching(/^failed {4}all\/c-yaml: SKILL\.md, line 3: front matter is not valid YAML/),
    expect.stringMatching(/^failed {4}all\/d-list: SKILL\.md, line 2: front matter is not a mapping/),
    expect.stringMatching(/^failed {4}all\/e-name: SKILL\.md, line 2: name has the wrong format; .*lower-case/),
    'failed    all/f-long: SKILL.md, line 3: description is too long; got 1025 characters; allowed: 1 to 1024 characters. --truncate-description publishes its first 1024 characters.',
    'failed    all/g-large: b.bin.content is too large; got 1048577 bytes; allowed: up to 1 MiB.',
    'failed    all/i-binary: SKILL.md, line 1: text is not UTF-8; allowed: a text file in UTF-8.',
    'failed    all/k-twin: name: all/j-good has the same name',
    'failed    none: there is no SKILL.md',
  ])
  expect((await retrieve('good')).description).toBe('Writes notes.')
})

it.each([
  ['plain', `description: ${'Long. '.repeat(200)}`],
  ['quoted', `description: "${'\\u00e9'.repeat(1025)}"`],
  ['lines', `description: Begins\n  ${'and goes on '.repeat(50)}\n\n  ${'and ends '.repeat(80)}`],
  ['folded', `description: >-\n${'  Long, and folded.\n'.repeat(90)}`],
  ['astral', `description: ${'\u{1f469}'.repeat(1025)}`],
])('publishes the beginning of a description that is too long: %s', async (name, description) => {
  const content = `---\nname: long-${name}\n${description}\nlicense: MIT\n---\n\n# Notes\ndescription: of the text\n`
  const path = write(`long-${name}`, { 'SKILL.md': content })
  expect((await push([path])).failed).toEqual([
    expect.stringMatching(
      /description is too long; got \d+ .* --truncate-description publishes its first 1024 characters\.$/,
    ),
  ])
  expect(await push([path], ['--truncate-description'])).toEqual(pushed(`created   long-${name}, 1 file`))
  const skill = await retrieve(`long-${name}`)
  const published = [...skill.description]
  expect(published.length).toBeGreaterThan(1000)
  expect(published.length).toBeLessThanOrEqual(1024)
  expect(skill.contents['SKILL.md']).toMatch(/license: MIT\n---\n\n# Notes\ndescription: of the text\n$/)
  expect(readFileSync(join(path, 'SKILL.md'), 'utf8')).toBe(content)
  expect(await push([path], ['--truncate-description'])).toEqual(pushed(`unchanged long-${name}, 1 file`))
})

it("reports the service's own words", async () => {
  write('a', { 'SKILL.md': entry('refused') })
  write('b', { 'SKILL.md': entry('refused-too') })
  const reader = { name: 'reader', scopes: ['skills:read'] }
  const { token } = (await service.send<{ token: string }>('POST', '/v1/api-keys', reader)).body
  const refusal =
    'This API key lacks the scope "skills:write". Use a key that has it; GET /v1/me shows the scopes of a key.'
  expect(await push(['a', 'b'], [], { apiKey: token })).toEqual({
    status: 1,
    printed: [],
    failed: [`failed    a: ${refusal}`, `failed    b: ${refusal}`],
  })
})

it('finds a skill on whichever page it is', async () => {
  const other = await running.addOrganization()
  const skills = Array.from({ length: 1000 }, (_, index) => ({ id: newUuid(), name: `skill-${index}` }))
  const sql = `INSERT INTO "skills" ("organizationId", "id", "name", "description", "version", "latestVersion", "revision", "createdAt", "updatedAt")
    SELECT ?, value ->> 'id', value ->> 'name', 'One of many.', 1, 1, value ->> 'id', ?2, ?2 FROM json_each(?3)`
  await running.write([{ sql, parameters: [other.id, '2026-01-01T00:00:00.000Z', JSON.stringify(skills)] }])
  const path = write('last', { 'SKILL.md': entry('last') })
  const login = { apiKey: other.apiKey }
  expect(await push([path], [], login)).toEqual(pushed('created   last, 1 file'))
  expect(await push([path], [], login)).toEqual(pushed('unchanged last, 1 file'))
})

it('says what is wrong with its call', async () => {
  const path = write('call', { 'SKILL.md': entry('call') })
  const nobody = `http://localhost:${await freePort()}`
  for (const [login, words] of [
    [{ url, apiKey: 'wsk_x' }, /^The API key is not valid/],
    [
      { url: nobody, apiKey: key },
      /^No answer from http:\/\/localhost:\d+: the connection was refused \(ECONNREFUSED\)\.$/m,
    ],
  ] as const) {
    const { status, stdout, stderr } = await runWorkspace(['skills', 'push', path], login)
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(words)])
    expect(stderr).not.toMatch(/\n +at /)
  }
})
