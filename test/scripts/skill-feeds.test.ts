import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../src/crypto/digest.ts'
import { type ArchivedFile, archiveOf } from '../../src/resources/skills/archive.ts'
import { newFolder } from '../support/dev-server.ts'
import { type InstalledFile, installSkills } from '../support/installer.ts'

const fileOf = (filename: string, content: string | Uint8Array, isExecutable = false): ArchivedFile => ({
  filename,
  bytes: Buffer.from(content as string),
  isExecutable,
})

const entryOf = (name: string) =>
  fileOf('SKILL.md', `---\nname: ${name}\ndescription: Writes ${name}.\n---\r\n\n# é\n`)

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, index) => index)

const SKILLS: Readonly<Record<string, readonly ArchivedFile[]>> = {
  'release-notes': [entryOf('release-notes')],
  pictures: [
    entryOf('pictures'),
    fileOf('assets/logo.png', EVERY_BYTE),
    fileOf('bin/run.sh', '#!/bin/sh\necho drawn\n', true),
    fileOf('empty', ''),
    fileOf('text/bom.txt', '\ufeffa\r\nb'),
    fileOf(`${'é'.repeat(70)}/${'b'.repeat(100)}`, 'a filename with a prefix'),
  ],
}

describe('the archive of a skill, unpacked by tar', () => {
  let folder: string
  beforeEach(async () => {
    folder = newFolder()
    mkdirSync(join(folder, 'unpacked'))
    writeFileSync(join(folder, 'skill.tar.gz'), await archiveOf(SKILLS.pictures ?? []))
    return () => rmSync(folder, { recursive: true })
  })

  it('has the files, byte for byte and with their bits', () => {
    const unpacked = spawnSync('tar', ['-xzf', 'skill.tar.gz', '-C', 'unpacked'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(unpacked).toMatchObject({ status: 0, stdout: '', stderr: '' })
    for (const { filename, bytes, isExecutable } of SKILLS.pictures ?? []) {
      const path = join(folder, 'unpacked', filename)
      expect(readFileSync(path).equals(bytes)).toBe(true)
      expect((lstatSync(path).mode & 0o100) !== 0).toBe(isExecutable)
    }
    expect(spawnSync(join(folder, 'unpacked', 'bin', 'run.sh'), { encoding: 'utf8' }).stdout).toBe('drawn\n')
  })

  it('is the same on Node as in workerd', async () => {
    const files = [
      fileOf('SKILL.md', '# Notes\n'),
      fileOf('bin/run.sh', '#!/bin/sh\n', true),
      fileOf('empty', ''),
    ]
    // As in test/unit/skill-archive.test.ts.
    expect(sha256(gunzipSync(await archiveOf(files)))).toBe(
      'd4ad0cc4a0c5bebb06150956538dc3be349f8fe46abb3fca62b6040491a10e05',
    )
  })
})

describe('a feed, read by the installer', () => {
  const BASE = '/feeds/secret'
  const INDEX = `${BASE}/.well-known/agent-skills/index.json`
  let server: Server
  let url: string
  /** What the feed answers, by path. */
  let responses: Map<string, { type: string; body: Uint8Array | string }>

  beforeAll(async () => {
    server = createServer(({ url: path = '', headers }, response) => {
      const { type, body } = responses.get(path) ?? {}
      if (type === undefined || headers.authorization !== undefined) response.writeHead(404).end()
      else response.writeHead(200, { 'Content-Type': type }).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`
  })
  afterAll(() => server.close())

  beforeEach(async () => {
    responses = new Map()
    const skills = []
    for (const [name, files] of Object.entries(SKILLS)) {
      const archive = await archiveOf(files)
      const path = `archives/${name}.tar.gz`
      responses.set(`${BASE}/.well-known/agent-skills/${path}`, { type: 'application/gzip', body: archive })
      const digest = `sha256:${sha256(archive)}`
      skills.push({ name, type: 'archive', description: `Writes ${name}.`, url: path, digest })
    }
    const $schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
    responses.set(INDEX, { type: 'application/json', body: JSON.stringify({ $schema, skills }) })
  })

  /** The installer drops the executable bits. */
  const installedFrom = (files: readonly ArchivedFile[] = []) =>
    Object.fromEntries(
      files.map(({ filename, bytes }): [string, InstalledFile] => [
        filename,
        { bytes: Buffer.from(bytes), isExecutable: false },
      ]),
    )

  it('installs its skills, byte for byte', async () => {
    const { status, printed, skills } = await installSkills(url)
    expect(status, printed).toBe(0)
    expect(skills).toEqual({
      'release-notes': installedFrom(SKILLS['release-notes']),
      pictures: installedFrom(SKILLS.pictures),
    })
  })

  it('installs one of its skills, and remembers the URL', async () => {
    const { status, printed, skills, lock } = await installSkills(url, 'pictures')
    expect(status, printed).toBe(0)
    expect(skills).toEqual({ pictures: installedFrom(SKILLS.pictures) })
    expect(lock).toContain(url)
  })

  it('installs nothing of a skill whose archive has another digest', async () => {
    const path = `${BASE}/.well-known/agent-skills/archives/pictures.tar.gz`
    responses.set(path, { type: 'application/gzip', body: await archiveOf(SKILLS['release-notes'] ?? []) })
    const { skills } = await installSkills(url)
    expect(Object.keys(skills)).toEqual(['release-notes'])
  })

  it('has nothing to install once it is gone', async () => {
    responses.clear()
    const { status, skills, lock } = await installSkills(url, 'pictures')
    expect({ status, skills, lock }).toEqual({ status: 1, skills: {}, lock: '' })
  })
})
