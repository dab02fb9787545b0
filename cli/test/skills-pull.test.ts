import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Service } from '../../scripts/service.ts'
import { runWorkspace, startWorkspace } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { startProxy } from './support/proxy.ts'
import { type Content, entry, readBytes, writeFiles } from './support/skill-folders.ts'

const RECORDS = '.workspace-skills'

let running: SharedService
beforeAll(async () => {
  running = await sharedService()
})

/** A new folder and a new organization for each test. */
let folder: string
let key: string
let service: Service
beforeEach(async () => {
  folder = newFolder()
  key = (await running.addOrganization()).apiKey
  service = new Service(running.url, key)
  const { body: user } = await service.send<{ id: string }>('PUT', `/v1/users/ada`, { name: 'Ada' })
  const { body: scopes } = await service.send<{ apiKey: { scopes: string[] } }>('GET', '/v1/me')
  const { body } = await service.send<{ token: string }>('POST', '/v1/api-keys', {
    name: 'laptop',
    userId: user.id,
    scopes: scopes.apiKey.scopes,
  })
  key = body.token
  return () => rmSync(folder, { recursive: true })
})

const write = (name: string, files: Readonly<Record<string, Content>>) => writeFiles(join(folder, name), files)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
/** The skills in a folder, without the records. */
const skillsIn = (name: string) =>
  Object.fromEntries(Object.entries(readBytes(join(folder, name))).filter(([path]) => !path.startsWith(RECORDS)))

/** Runs a command in the folder of the test. */
async function run(command: string, args: readonly string[], variables = {}, url = running.url) {
  const login = { url, apiKey: key }
  const { status, stdout, stderr } = await runWorkspace(['skills', command, ...args], login, variables, folder)
  const lines = (text: string) => text.split('\n').slice(0, -1)
  return { status, printed: lines(stdout), failed: lines(stderr) }
}
const push = (...args: string[]) => run('push', args)
const pull = (...args: string[]) => run('pull', args)
const done = (...printed: string[]) => ({ status: 0, printed, failed: [] })
const refused = (...failed: string[]) => ({ status: 1, printed: [], failed })

it('writes what was pushed, byte for byte, with its executable bits', async () => {
  const files = {
    'SKILL.md': entry('whole'),
    'a/b/c.md': 'deep',
    'bin/run.sh': '#!/bin/sh\n',
    'bom.txt': '\ufeffwith a mark',
    constructor: 'a name that objects have',
    'crlf.txt': 'a\r\nb\rc\n\n',
    'empty.sh': '',
    'empty.txt': '',
    'latin.txt': Uint8Array.of(0x61, 0xe9),
    'logo.png': Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0),
    'url.txt': 'data:application/octet-stream;base64,AAAA',
    '\u65e5\u672c (1).txt': '\u{1f469}\u200d\u{1f680} \u0001\u001b no last line',
  }
  write('mine/whole', files)
  write('mine/other', { 'SKILL.md': entry('other') })
  await push('mine')
  expect(await pull('theirs', '--all')).toEqual(done('created   other, 1 file', 'created   whole, 12 files'))
  expect(skillsIn('theirs')).toEqual(skillsIn('mine'))
  expect(readdirSync(join(folder, 'theirs', RECORDS))).toEqual(['other.json', 'whole.json'])

  expect(await pull('theirs')).toEqual(done('unchanged other, 1 file', 'unchanged whole, 12 files'))
  expect(await push('theirs')).toEqual(done('unchanged other, 1 file', 'unchanged whole, 12 files'))
  expect(skillsIn('theirs')).toEqual(skillsIn('mine'))
})

it('writes the named skills, or a version of one', async () => {
  for (const name of ['one', 'two', 'three']) write(`mine/${name}`, { 'SKILL.md': entry(name), 'a.md': '1' })
  await push('mine')
  const missing = 'failed    four: there is no skill with this name'
  expect(await pull('theirs', 'two', 'four', 'one', 'two')).toEqual({
    status: 1,
    printed: ['created   two, 2 files', 'created   one, 2 files'],
    failed: [missing],
  })

  write('mine/one', { 'a.md': '2', 'b.md': '2' })
  await push('mine')
  expect(await pull('theirs', 'one')).toEqual(done('updated   one, 3 files'))
  expect(await pull('theirs', 'one', '--version', '1')).toEqual(done('updated   one, 2 files'))
  expect([read('theirs/one/a.md'), existsSync(join(folder, 'theirs/one/b.md'))]).toEqual(['1', false])
  // An earlier version is not what to publish by chance.
  expect(await push('theirs/one')).toEqual(done('outdated  one, 2 files'))
  expect(await pull('theirs', 'one')).toEqual(done('updated   one, 3 files'))
  expect(await pull('theirs', 'one', '--version', '9')).toEqual(
    refused('failed    one: The skill has no such version. GET /v1/skills/{skillId}/versions lists them.'),
  )
})

it('stays within what the folder has, unless skills are named or --all is given', async () => {
  for (const name of ['one', 'two', 'three']) write(`mine/${name}`, { 'SKILL.md': entry(name) })
  await push('mine')
  expect(await pull('theirs')).toEqual(
    refused('theirs has no skill of the service. Name the skills to pull, or pass --all for all 3.'),
  )
  expect(existsSync(join(folder, 'theirs'))).toBe(false)
  expect(await pull('theirs', 'two')).toEqual(done('created   two, 1 file'))
  write('mine/two', { 'a.md': '' })
  await push('mine')
  expect(await pull('theirs')).toEqual(done('updated   two, 2 files'))
  expect(await pull('theirs', '--all')).toEqual(
    done('created   one, 1 file', 'created   three, 1 file', 'unchanged two, 2 files'),
  )
})

it('only says what it would do in a dry run', async () => {
  const nothing = 'Nothing was changed: this was a dry run.'
  write('mine/dry', { 'SKILL.md': entry('dry') })
  await push('mine')
  expect(await pull('theirs', '--all', '--dry-run')).toEqual(done('to create dry, 1 file', nothing))
  expect(existsSync(join(folder, 'theirs'))).toBe(false)
  await pull('theirs', '--all')
  const before = readBytes(join(folder, 'theirs'))
  expect(await pull('theirs', '--dry-run')).toEqual(done('unchanged dry, 1 file', nothing))
  write('mine/dry', { 'a.md': 'new' })
  await push('mine')
  expect(await pull('theirs', '--dry-run')).toEqual(done('to update dry, 2 files', nothing))
  expect(readBytes(join(folder, 'theirs'))).toEqual(before)
})

describe('two people', () => {
  /** Both have pulled the same version. */
  beforeEach(async () => {
    const files = { 'SKILL.md': entry('notes'), 'a.md': '1', 'b.md': '1', 'docs/c.md': '1', 'run.sh': '1' }
    write('start/notes', files)
    await push('start')
    await pull('ada', '--all')
    await pull('bob', '--all')
  })

  it('get the changes of each other', async () => {
    write('ada/notes', { 'a.md': '2', 'new/d.sh': '2' })
    rmSync(join(folder, 'ada/notes/docs'), { recursive: true })
    chmodSync(join(folder, 'ada/notes/run.sh'), 0o644)
    expect(await push('ada')).toEqual(done('updated   notes, 5 files'))
    expect(await pull('bob')).toEqual(done('updated   notes, 5 files'))
    expect(skillsIn('bob')).toEqual(skillsIn('ada'))
    expect(existsSync(join(folder, 'bob/notes/docs'))).toBe(false)

    write('bob/notes', { 'a.md': '3' })
    expect(await push('bob/notes')).toEqual(done('updated   notes, 5 files'))
    expect(await push('ada')).toEqual(done('outdated  notes, 5 files'))
    expect(await pull('ada')).toEqual(done('updated   notes, 5 files'))
    expect(await pull('ada')).toEqual(done('unchanged notes, 5 files'))
    expect(skillsIn('ada')).toEqual(skillsIn('bob'))
  })

  it('keep what each changed in other files', async () => {
    write('ada/notes', { 'a.md': 'ada' })
    await push('ada')
    write('bob/notes', { 'b.md': 'bob', 'untracked.md': 'bob' })
    unlinkSync(join(folder, 'bob/notes/docs/c.md'))
    expect(await push('bob')).toEqual(
      refused(
        expect.stringMatching(
          /^failed {4}bob\/notes: changed here, and on the service: version 2 by Ada, made at 20\S+Z, is current\. To merge it: workspace skills pull bob notes; --force publishes without it$/,
        ),
      ),
    )
    const kept = ['kept      notes/b.md: changed here', 'kept      notes/docs/c.md: changed here']
    expect(await pull('bob')).toEqual(done(...kept, 'updated   notes, 5 files'))
    expect(await pull('bob')).toEqual(done(...kept, 'unchanged notes, 5 files'))
    expect([read('bob/notes/a.md'), read('bob/notes/b.md')]).toEqual(['ada', 'bob'])
    expect(await push('bob')).toEqual(done('updated   notes, 5 files'))
    expect(await pull('ada')).toEqual(done('updated   notes, 5 files'))
    expect(skillsIn('ada')).toEqual(skillsIn('bob'))
  })

  it('get a merged file where they changed different lines', async () => {
    const lines = (...changed: Record<number, string>[]) =>
      Object.values(Object.assign({ 1: '1', 2: '2', 3: '3', 4: '4', 5: '5' }, ...changed)).join('\r\n')
    write('ada/notes', { 'a.md': lines(), 'run.sh': '1' })
    await push('ada')
    await pull('bob')
    write('ada/notes', { 'a.md': lines({ 1: 'ada' }), 'b.md': 'same' })
    chmodSync(join(folder, 'ada/notes/run.sh'), 0o644)
    await push('ada')
    write('bob/notes', { 'a.md': lines({ 5: 'bob' }), 'b.md': 'same', 'run.sh': '2' })
    const merged = ['a.md', 'run.sh'].map((name) => `merged    notes/${name}: changed here and in version 3 by Ada`)
    expect(await pull('bob', '--dry-run')).toMatchObject({ status: 0, printed: expect.arrayContaining(merged) })
    expect(read('bob/notes/a.md')).toBe(lines({ 5: 'bob' }))
    expect(await pull('bob')).toEqual(done(...merged, 'updated   notes, 5 files'))
    expect(read('bob/notes/a.md')).toBe(lines({ 1: 'ada' }, { 5: 'bob' }))
    expect(readBytes(join(folder, 'bob/notes'))['run.sh']).toBe(Buffer.from('2').toString('hex'))
    expect(await push('bob')).toEqual(done('updated   notes, 5 files'))
    expect(await pull('ada')).toEqual(done('updated   notes, 5 files'))
    expect(skillsIn('ada')).toEqual(skillsIn('bob'))
  })

  it('get both changes of the same line, between conflict markers', async () => {
    write('ada/notes', { 'a.md': 'ada', 'b.md': 'ada', 'both.md': 'same\nada\nsame' })
    unlinkSync(join(folder, 'ada/notes/docs/c.md'))
    await push('ada')
    write('bob/notes', { 'a.md': 'bob', 'docs/c.md': 'bob', 'both.md': 'same\nbob\nsame' })
    unlinkSync(join(folder, 'bob/notes/b.md'))
    const by = 'version 2 by Ada'
    const conflict = (name: string) =>
      `conflict  notes/${name}: changed here and in ${by}; see the lines between <<<<<<< and >>>>>>>`
    expect(await pull('bob')).toEqual({
      status: 1,
      printed: [
        conflict('a.md'),
        `restored  notes/b.md: deleted here, and changed in ${by}`,
        `kept      notes/docs/c.md: changed here, and deleted in ${by}`,
        conflict('both.md'),
        'updated   notes, 5 files',
      ],
      failed: [],
    })
    const marked = `<<<<<<< yours\nbob\n=======\nada\n>>>>>>> ${by}\n`
    expect(['a.md', 'b.md', 'docs/c.md', 'both.md'].map((name) => read(`bob/notes/${name}`))).toEqual([
      marked,
      'ada',
      'bob',
      `same\n${marked}same`,
    ])

    const left = (name: string, line: number) =>
      `notes/${name}, line ${line}: a conflict; keep what is right, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>`
    expect(await push('bob')).toEqual(
      refused(`failed    bob/${left('a.md', 1)}`.replace('bob/notes/a', 'bob/notes: a')),
    )
    write('ada/notes', { 'both.md': 'ada again' })
    await push('ada')
    expect(await pull('bob')).toEqual(refused(`failed    ${left('both.md', 2)}`.replace('notes/', 'notes: ')))
    write('bob/notes', { 'a.md': 'both', 'both.md': 'same\nbob\nada\nsame' })
    expect((await pull('bob')).status).toBe(1)
    write('bob/notes', { 'both.md': 'resolved' })
    expect(await push('bob')).toEqual(done('updated   notes, 6 files'))
    expect((await pull('ada')).status).toBe(0)
    expect(skillsIn('ada')).toEqual(skillsIn('bob'))
  })

  it('get both files where they changed what is not text', async () => {
    const image = (byte: number) => Uint8Array.of(0, byte)
    write('ada/notes', { 'a.png': image(1) })
    await push('ada')
    await pull('bob')
    write('ada/notes', { 'a.png': image(2) })
    await push('ada')
    write('bob/notes', { 'a.png': image(3) })
    const conflict = 'conflict  notes/a.png: changed here and in version 3 by Ada, which is in a.png.theirs-version-3'
    expect(await pull('bob')).toEqual({ status: 1, printed: [conflict, 'updated   notes, 6 files'], failed: [] })
    expect(readBytes(join(folder, 'bob/notes'))).toMatchObject({ 'a.png': '0003', 'a.png.theirs-version-3': '0002' })
    expect(await push('bob')).toEqual(
      refused(
        'failed    bob/notes: a.png.theirs-version-3 is the other side of a conflict; rename the one that is right, and delete the other',
      ),
    )
    unlinkSync(join(folder, 'bob/notes/a.png.theirs-version-3'))
    expect(await push('bob')).toEqual(done('updated   notes, 6 files'))
  })

  it('get the changes of each other with --force, without their own', async () => {
    write('ada/notes', { 'a.md': 'ada' })
    await push('ada')
    write('bob/notes', { 'a.md': 'bob', 'b.md': 'bob', 'untracked.md': 'bob' })
    expect(await pull('bob', '--force')).toEqual(done('updated   notes, 5 files'))
    expect(read('bob/notes/untracked.md')).toBe('bob')
    unlinkSync(join(folder, 'bob/notes/untracked.md'))
    expect(skillsIn('bob')).toEqual(skillsIn('ada'))
  })

  it('publish over each other only with --force', async () => {
    write('ada/notes', { 'a.md': 'ada' })
    await push('ada')
    write('bob/notes', { 'a.md': 'bob' })
    expect((await push('bob')).status).toBe(1)
    expect((await push('bob', '--dry-run')).status).toBe(1)
    expect(await push('bob', '--force')).toEqual(done('updated   notes, 5 files'))
    expect(await pull('ada')).toEqual(done('updated   notes, 5 files'))
    expect(read('ada/notes/a.md')).toBe('bob')
    const { body } = await service.send<{ items: { id: string }[] }>('GET', '/v1/skills')
    const path = `/v1/skills/${body.items[0]?.id}/versions`
    expect((await service.send<{ items: object[] }>('GET', path)).body.items).toHaveLength(3)
  })

  it('pull into a folder that was only pushed, or never seen by the service', async () => {
    write('ada/notes', { 'a.md': 'ada' })
    await push('ada')
    write('start/notes', { 'own.md': 'start' })
    expect(await pull('start')).toEqual(done('updated   notes, 5 files'))
    expect([read('start/notes/a.md'), read('start/notes/own.md')]).toEqual(['ada', 'start'])
    write('copy/notes', { 'SKILL.md': entry('notes'), 'a.md': 'not on the service', 'own.md': 'copy' })
    expect((await push('copy')).failed).toEqual([expect.stringContaining('workspace skills pull copy notes; --force')])
    expect(await pull('copy')).toEqual({
      status: 1,
      printed: [
        'conflict  notes/a.md: changed here and in version 2 by Ada; see the lines between <<<<<<< and >>>>>>>',
        'updated   notes, 5 files',
      ],
      failed: [],
    })
    const both = '<<<<<<< yours\nnot on the service\n=======\nada\n>>>>>>> version 2 by Ada\n'
    expect([read('copy/notes/a.md'), read('copy/notes/own.md')]).toEqual([both, 'copy'])
    write('copy/notes', { 'a.md': 'both' })
    expect(await push('copy')).toEqual(done('updated   notes, 6 files'))
  })

  it('restore a deleted file with --force, and a deleted folder without', async () => {
    unlinkSync(join(folder, 'bob/notes/a.md'))
    expect(await pull('bob')).toEqual(done('kept      notes/a.md: changed here', 'unchanged notes, 5 files'))
    expect(await pull('bob', '--force')).toEqual(done('updated   notes, 5 files'))
    rmSync(join(folder, 'bob/notes'), { recursive: true })
    expect(await pull('bob', 'notes')).toEqual(done('created   notes, 5 files'))
    expect(skillsIn('bob')).toEqual(skillsIn('ada'))
  })

  it('keep the folder of a skill that was deleted', async () => {
    const { body } = await service.send<{ items: { id: string }[] }>('GET', '/v1/skills')
    await service.send('DELETE', `/v1/skills/${body.items[0]?.id}`)
    expect(await pull('bob')).toEqual(done('gone      notes: not on the service; its folder stays'))
    expect(skillsIn('bob')).toEqual(skillsIn('ada'))
    expect(await push('bob')).toEqual(done('created   notes, 5 files'))
    write('bob/notes', { 'a.md': '2' })
    expect(await push('bob')).toEqual(done('updated   notes, 5 files'))
  })
})

describe('an interrupted pull', () => {
  /** Loaded into the script: it is killed at its nth call that moves or removes a file. */
  const killedAt = (call: number) => {
    const code = `
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      let calls = 0
      for (const name of ['renameSync', 'rmSync', 'rmdirSync']) {
        const original = fs[name]
        fs[name] = (...args) => {
          if (++calls === ${call}) process.kill(process.pid, 'SIGKILL')
          return original(...args)
        }
      }
      syncBuiltinESMExports()`
    return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` }
  }

  it('is finished by the next, wherever it was killed', { timeout: 120_000 }, async () => {
    const versions = [
      { 'SKILL.md': entry('notes'), 'a.md': '1', 'old/c.md': '1', swap: '1' },
      { 'SKILL.md': entry('notes', 'Second.'), 'a.md': '2', 'swap/d.md': '2' },
      { 'SKILL.md': entry('notes', 'Third.'), 'a.md': '3', 'old/c.md': '3', 'swap/d.md': '3' },
    ]
    for (const [index, files] of versions.entries()) {
      write(`${index + 1}/notes`, files)
      await push(`${index + 1}`, '--force')
    }
    await pull('first', 'notes', '--version', '1')
    let kills = 0
    for (let isKilled = true; isKilled; kills += process.env.LONG ? 1 : 4) {
      rmSync(join(folder, 'theirs'), { recursive: true, force: true })
      cpSync(join(folder, 'first'), join(folder, 'theirs'), { recursive: true })
      const second = ['theirs', 'notes', '--version', '2']
      const { status } = await run('pull', second, killedAt(kills + 1))
      isKilled = status === null
      // Killed a second time, before it gets a third version.
      await run('pull', ['theirs', 'notes'], killedAt((kills % 5) + 2))
      const { status: last, failed } = await pull('theirs', 'notes')
      expect([kills, last, failed]).toEqual([kills, 0, []])
      expect(skillsIn('theirs')).toEqual(skillsIn('3'))
    }
    // As many as there are steps. In the long form it was killed in each.
    expect(kills).toBeGreaterThan(10)
  })

  it('loses no change of the folder, wherever it was killed', { timeout: 120_000 }, async () => {
    const image = (byte: number) => Uint8Array.of(0, byte)
    const text = (...lines: string[]) => lines.join('\n')
    const base = { 'SKILL.md': entry('notes'), 'a.md': text('1', '2', '3', '4', '5'), 'b.md': 'base' }
    for (const files of [
      { ...base, 'c.md': 'base', 'd.png': image(1), 'e.md': 'base' },
      { ...base, 'a.md': text('ada', '2', '3', '4', '5'), 'b.md': 'ada', 'd.png': image(2), 'e.md': 'ada' },
    ]) {
      rmSync(join(folder, 'ada'), { recursive: true, force: true })
      write('ada/notes', files)
      await push('ada', '--force')
    }
    await pull('first', 'notes', '--version', '1')
    write('first/notes', { 'a.md': text('1', '2', '3', '4', 'bob'), 'b.md': 'bob', 'c.md': 'bob', 'd.png': image(3) })
    unlinkSync(join(folder, 'first/notes/e.md'))
    const marked = `<<<<<<< yours\nbob\n=======\nada\n>>>>>>> version 2 by Ada\n`
    const expected = {
      'SKILL.md': base['SKILL.md'],
      'a.md': text('ada', '2', '3', '4', 'bob'),
      'b.md': marked,
      'c.md': 'bob',
      'd.png': image(3),
      'd.png.theirs-version-2': image(2),
      'e.md': 'ada',
    }
    write('expected/notes', expected)
    let kills = 0
    for (let isKilled = true; isKilled; kills++) {
      rmSync(join(folder, 'bob'), { recursive: true, force: true })
      cpSync(join(folder, 'first'), join(folder, 'bob'), { recursive: true })
      isKilled = (await run('pull', ['bob'], killedAt(kills + 1))).status === null
      const { failed } = await pull('bob')
      expect([kills, failed, skillsIn('bob')]).toEqual([kills, [], readBytes(join(folder, 'expected'))])
    }
    // The records, six files, and the folder of what was staged.
    expect(kills).toBeGreaterThan(7)
  })

  it('is not published', async () => {
    write('1/notes', { 'SKILL.md': entry('notes'), 'a.md': '1' })
    await push('1')
    await pull('theirs', '--all')
    write('1/notes', { 'SKILL.md': entry('notes', 'Second.'), 'a.md': '2' })
    await push('1')
    // The record, and a file.
    expect((await run('pull', ['theirs'], killedAt(4))).status).toBe(null)
    expect(await push('theirs')).toEqual(
      refused('failed    theirs/notes: a pull of this skill was interrupted; pull it again'),
    )
    expect((await pull('theirs')).status).toBe(0)
    expect(await push('theirs')).toEqual(done('unchanged notes, 2 files'))
    // What the killed command left is not taken for a skill.
    expect(skillsIn('theirs')).toEqual(skillsIn('1'))
  })

  it('leaves nothing behind on Ctrl-C', async () => {
    for (const name of ['a', 'b']) write(`mine/${name}`, { 'SKILL.md': entry(name) })
    await push('mine')
    let requests = 0
    const proxy = await startProxy(running.url, async ({ url }) => {
      if (/\/versions\/1$/.test(url) && ++requests === 2) await setTimeout(60_000, undefined, { ref: false })
      return undefined
    })
    const login = { url: proxy.url, apiKey: key }
    const child = startWorkspace(['skills', 'pull', 'theirs', '--all'], login, { cwd: folder })
    while (requests < 2) await setTimeout(20)
    child.kill('SIGINT')
    await new Promise((resolve) => child.on('close', resolve))
    await proxy.close()
    expect(Object.keys(readBytes(join(folder, 'theirs')))).toEqual([`${RECORDS}/a.json`, 'a/SKILL.md'])
    expect(readdirSync(join(folder, 'theirs', RECORDS))).toEqual(['a.json'])
  })
})

describe('outside of the folder', () => {
  it('nothing is written through symbolic links', async () => {
    const files = { 'SKILL.md': entry('notes'), 'docs/a.md': '1', 'b.md': '1' }
    write('mine/notes', files)
    await push('mine')
    write('outside', { 'a.md': 'outside', 'b.md': 'outside' })
    const outside = join(folder, 'outside')
    const before = readBytes(outside)

    mkdirSync(join(folder, 'linked'))
    symlinkSync(outside, join(folder, 'linked/notes'))
    expect(await pull('linked', '--force')).toEqual(
      refused('failed    notes: linked/notes is not a folder; move it away'),
    )

    await pull('theirs', '--all')
    rmSync(join(folder, 'theirs/notes/docs'), { recursive: true })
    symlinkSync(outside, join(folder, 'theirs/notes/docs'))
    expect(await pull('theirs', '--force')).toEqual(
      refused('failed    notes: theirs/notes/docs is in the way of a file; move it away'),
    )
    unlinkSync(join(folder, 'theirs/notes/docs'))

    unlinkSync(join(folder, 'theirs/notes/b.md'))
    symlinkSync(join(outside, 'b.md'), join(folder, 'theirs/notes/b.md'))
    write('mine/notes', { 'b.md': '2' })
    await push('mine')
    expect(await pull('theirs')).toEqual(
      refused('failed    notes: b.md is a symbolic link here; --force overwrites it'),
    )
    expect(await pull('theirs', '--force')).toEqual(done('updated   notes, 3 files'))
    expect(skillsIn('theirs')).toEqual(skillsIn('mine'))

    rmSync(join(folder, 'theirs', RECORDS), { recursive: true })
    symlinkSync(outside, join(folder, 'theirs', RECORDS))
    expect(await pull('theirs')).toEqual(refused(`theirs/${RECORDS} is a symbolic link; allowed: a folder`))
    expect(readBytes(outside)).toEqual(before)
  })

  it.each([
    '../outside.md',
    '/tmp/outside.md',
    'a/../../outside.md',
    'a//b.md',
    'C:outside.md',
    '..\\outside.md',
    'a\u0000.md',
    '.git/config',
    'a/.GIT/hooks/x',
    'git~1/config',
  ])('a filename such as %j is refused', async (filename) => {
    const respond = async ({ url }: { url: string }) => {
      if (url.startsWith('/v1/skills?')) return { items: [{ id: 'x', name: 'notes' }], nextCursor: null }
      if (url.includes('/versions?')) return { items: [{ version: 1, isCurrent: true }], nextCursor: null }
      const file = { content: 'x', encoding: 'utf-8', executable: false, sha256: 'x' }
      const files = ['SKILL.md', filename].map((each) => ({ ...file, filename: each }))
      return url.includes('/versions/') ? { isCurrent: true, files } : {}
    }
    const proxy = await startProxy(running.url, respond)
    const { status, printed, failed } = await run('pull', ['theirs', '--all'], {}, proxy.url)
    await proxy.close()
    expect([status, printed]).toEqual([1, []])
    expect(failed).toEqual([
      expect.stringMatching(/^failed {4}notes: the service has a filename that no file of a skill can have: /),
    ])
    expect(readdirSync(folder)).toEqual([])
  })

  it('what the Finder left in a skill is not written', async () => {
    const files = ['SKILL.md', 'a/.DS_Store'].map((filename) => ({ filename, content: entry('notes') }))
    await service.send('POST', '/v1/skills', { files })
    expect(await pull('theirs', '--all')).toEqual(
      done("skipped   notes/a/.DS_Store: never part of a skill's folder", 'created   notes, 1 file'),
    )
    expect(Object.keys(skillsIn('theirs'))).toEqual(['notes/SKILL.md'])
  })

  it('what is in the way stays', async () => {
    write('mine/notes', { 'SKILL.md': entry('notes'), a: '1' })
    await push('mine')
    await pull('theirs', '--all')
    unlinkSync(join(folder, 'mine/notes/a'))
    write('mine/notes', { 'a/b.md': '2' })
    await push('mine')
    expect(await pull('theirs')).toEqual(done('updated   notes, 2 files'))
    rmSync(join(folder, 'mine/notes/a'), { recursive: true })
    write('mine/notes', { a: '3' })
    await push('mine')
    write('theirs/notes', { 'a/own.md': 'own' })
    expect(await pull('theirs', '--force')).toEqual(
      refused('failed    notes: theirs/notes/a/own.md is in the way of a file; move it away'),
    )
    unlinkSync(join(folder, 'theirs/notes/a/own.md'))
    expect(await pull('theirs')).toEqual(done('updated   notes, 2 files'))
    expect(skillsIn('theirs')).toEqual(skillsIn('mine'))
  })
})

it('takes a renamed file on a file system that ignores case, too', async () => {
  write('mine/notes', { 'SKILL.md': entry('notes'), 'Read.md': '1' })
  await push('mine')
  await pull('theirs', '--all')
  unlinkSync(join(folder, 'mine/notes/Read.md'))
  write('mine/notes', { 'read.md': '1' })
  await push('mine')
  expect(await pull('theirs')).toEqual(done('updated   notes, 2 files'))
  expect(skillsIn('theirs')).toEqual(skillsIn('mine'))
})

describe('versions', () => {
  beforeEach(async () => {
    for (const files of [
      { 'SKILL.md': entry('notes'), 'a.md': '1\n2\n3\n4\n5\n6\n7\n8\n9\n', 'b.bin': Uint8Array.of(0), 'run.sh': 'x' },
      { 'SKILL.md': entry('notes', 'Second.'), 'a.md': '1\n2\n3\n4\nfive\n6\n7\n8\n9\n', 'b.bin': Uint8Array.of(1) },
    ]) {
      rmSync(join(folder, 'mine/notes'), { recursive: true, force: true })
      write('mine/notes', files)
      await push('mine', '--message', `For ${files['SKILL.md'].length}.`)
    }
  })

  it('are listed and shown, and each file is written as it is', async () => {
    const { printed } = await run('versions', ['notes'])
    expect(printed[0]).toMatch(/^VERSION +CURRENT +MADE +BY +MESSAGE$/)
    expect(printed.slice(1)).toEqual([
      expect.stringMatching(/^2 +current +\d+ (s|min) ago +ada +For \d+\.$/),
      expect.stringMatching(/^1 +- +\d+ (s|min) ago +ada +For \d+\.$/),
    ])
    expect((await run('versions', ['notes', '--limit', '1'])).printed).toHaveLength(2)
    const shown = (await run('show', ['notes'])).printed.join('\n')
    expect(shown).toMatch(/^description +Second\.$/m)
    expect(shown).toMatch(/^made +\d+ (s|min) ago, version 2 by Ada$/m)
    expect(shown).toMatch(/^ {2}b\.bin +1 byte$/m)
    const [json = ''] = (await run('show', ['notes', '--version', '1', '--json'])).printed
    expect(JSON.parse(json)).toMatchObject({ version: 1, isCurrent: false, files: { length: 4 } })
    expect((await run('show', ['notes', 'a.md', '--version', '1'])).printed).toEqual([...'123456789'])
    expect((await run('show', ['notes', 'run.sh'])).failed).toEqual(['Version 2 of the skill has no file run.sh.'])
    expect((await run('show', ['other'])).failed).toEqual(['There is no skill with the ID or the name "other".'])
  })

  it('are compared with each other and with the folder', async () => {
    const hunk = ['@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8']
    const { printed } = await run('diff', ['notes', '--from', '1', '--to', '2'])
    expect(printed).toEqual([
      '--- SKILL.md (version 1)',
      '+++ SKILL.md (version 2)',
      '@@ -1,6 +1,6 @@',
      ' ---',
      ' name: notes',
      '-description: Writes notes.',
      '+description: Second.',
      ' ---',
      ' ',
      ' # Notes',
      '--- a.md (version 1)',
      '+++ a.md (version 2)',
      ...hunk,
      'b.bin differs, and is not text',
      '--- run.sh (version 1)',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      '\\ No newline at end of file',
    ])
    expect(await run('diff', ['mine/notes'])).toEqual(done())
    write('mine/notes', { 'new.sh': 'x\n' })
    expect(await run('diff', ['mine/notes'])).toEqual(
      done('new.sh is now executable', '--- /dev/null', '+++ new.sh (yours)', '@@ -0,0 +1 @@', '+x'),
    )
    const lines = (await run('diff', ['mine/notes', '--from', '1', '--json'])).printed.map((line) => JSON.parse(line))
    expect(lines.map(({ filename, change }) => `${change} ${filename}`)).toEqual([
      'changed SKILL.md',
      'changed a.md',
      'changed b.bin',
      'added new.sh',
      'removed run.sh',
    ])
    expect((await run('diff', ['nowhere/notes'])).failed).toEqual([
      'There is no folder nowhere/notes. To compare two versions, pass --to.',
    ])
  })

  it('are published again, and deleted with the skill', async () => {
    expect(await run('publish', ['notes', '1'])).toEqual(done('Version 1 of notes is current.'))
    expect((await run('show', ['notes'])).printed.join('\n')).toMatch(/^version +1$/m)
    expect((await run('publish', ['notes', '9'])).failed).toEqual([expect.stringMatching(/no such version/)])
    expect(await run('delete', ['notes'])).toEqual(done('Deleted notes.'))
    expect((await run('delete', ['notes'])).failed).toEqual(['There is no skill with the ID or the name "notes".'])
    expect(existsSync(join(folder, 'mine/notes'))).toBe(true)
  })
})
