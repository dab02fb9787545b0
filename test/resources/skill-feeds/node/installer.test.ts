import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Service } from '../../../../scripts/service.ts'
import { type ArchivedFile, createArchive } from '../../../../src/resources/skills/archive.ts'
import { newFolder } from '../../../support/dev-server.ts'
import { type InstalledFile, installSkills } from '../../../support/installer.ts'
import { type RunningService, startService } from '../../../support/service.ts'

const fileOf = (filename: string, content: string | Uint8Array, isExecutable = false): ArchivedFile => ({
  filename,
  bytes: Buffer.from(content as string),
  isExecutable,
})

const entryOf = (name: string) => fileOf('SKILL.md', `---\nname: ${name}\ndescription: Writes ${name}.\n---\r\n\n# é\n`)

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

describe('the archive of a skill', () => {
  it('is the same on Node as in workerd', async () => {
    const files = [fileOf('SKILL.md', '# Notes\n'), fileOf('bin/run.sh', '#!/bin/sh\n', true), fileOf('empty', '')]
    // As in test/resources/skills/archive.test.ts.
    expect(hash('sha256', gunzipSync(await createArchive(files)))).toBe(
      'd4ad0cc4a0c5bebb06150956538dc3be349f8fe46abb3fca62b6040491a10e05',
    )
  })
})

describe('a feed of the running service, read by the installer', () => {
  let running: RunningService
  let apiKey: string
  let service: Service
  /** By name. */
  const skillIds = new Map<string, string>()

  beforeAll(async () => {
    running = await startService({ RATE_LIMIT: 'on' })
    apiKey = (await running.addOrganization()).apiKey
    service = new Service(running.url, apiKey)
    for (const [name, files] of Object.entries(SKILLS)) {
      const body = {
        files: files.map(({ filename, bytes, isExecutable }) => ({
          filename,
          content: Buffer.from(bytes).toString('base64'),
          encoding: 'base64',
          executable: isExecutable,
        })),
      }
      skillIds.set(name, (await service.send<{ id: string }>('POST', '/v1/skills', body)).body.id)
    }
  })
  afterAll(() => running.close())

  const addFeed = async (feed: object = {}) =>
    (await service.send<{ id: string; url: string }>('POST', '/v1/skill-feeds', { name: 'Laptops', ...feed })).body

  /** The installer drops the executable bits. */
  const installedFrom = (files: readonly ArchivedFile[] = []) =>
    Object.fromEntries(
      files.map(({ filename, bytes }): [string, InstalledFile] => [
        filename,
        { bytes: Buffer.from(bytes), isExecutable: false },
      ]),
    )

  it('installs all skills, byte for byte, until it is deleted', async () => {
    const { id, url } = await addFeed()
    const { status, printed, skills } = await installSkills(url)
    expect(status, printed).toBe(0)
    expect(skills).toEqual({
      'release-notes': installedFrom(SKILLS['release-notes']),
      pictures: installedFrom(SKILLS.pictures),
    })
    await service.send('DELETE', `/v1/skill-feeds/${id}`)
    const after = await installSkills(url)
    expect({ ...after, printed: '' }).toEqual({ status: 1, printed: '', skills: {}, lock: '' })
  })

  it('installs one of the skills, and remembers the URL', async () => {
    const { url } = await addFeed()
    const { status, printed, skills, lock } = await installSkills(url, 'pictures')
    expect(status, printed).toBe(0)
    expect(skills).toEqual({ pictures: installedFrom(SKILLS.pictures) })
    expect(lock).toContain(url)
  })

  it('installs the version that the feed names', async () => {
    const skillId = skillIds.get('release-notes')
    const { url } = await addFeed({ skills: [{ skillId, version: 1 }] })
    const content = `${entryOf('release-notes').bytes}Changed.\n`
    const files = [{ filename: 'SKILL.md', content }]
    await service.send('PATCH', `/v1/skills/${skillId}`, { files })
    const { status, printed, skills } = await installSkills(url)
    expect(status, printed).toBe(0)
    expect(skills).toEqual({ 'release-notes': installedFrom(SKILLS['release-notes']) })
    const current = await installSkills((await addFeed({ skills: [{ skillId }] })).url)
    expect(String(current.skills['release-notes']?.['SKILL.md']?.bytes)).toBe(content)
  })

  it('has archives that tar unpacks, byte for byte and with their bits', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'unpacked'))
    const path = `/v1/skills/${skillIds.get('pictures')}/archive`
    const index = `${(await addFeed()).url}/.well-known/agent-skills/index.json`
    const offers = ((await (await fetch(index)).json()) as { skills: { name: string; url: string }[] }).skills
    const offer = offers.find(({ name }) => name === 'pictures')
    const archives = [
      await fetch(running.url + path, { headers: { Authorization: `Bearer ${apiKey}` } }),
      await fetch(new URL(offer?.url ?? '', index)),
    ]
    for (const archive of archives) {
      writeFileSync(join(folder, 'skill.tar.gz'), new Uint8Array(await archive.arrayBuffer()))
      const unpacked = spawnSync('tar', ['-xzf', 'skill.tar.gz', '-C', 'unpacked'], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(unpacked).toMatchObject({ status: 0, stdout: '', stderr: '' })
      for (const { filename, bytes, isExecutable } of SKILLS.pictures ?? []) {
        const file = join(folder, 'unpacked', filename)
        expect(readFileSync(file).equals(bytes)).toBe(true)
        expect((lstatSync(file).mode & 0o100) !== 0).toBe(isExecutable)
      }
      expect(spawnSync(join(folder, 'unpacked', 'bin', 'run.sh'), { encoding: 'utf8' }).stdout).toBe('drawn\n')
      rmSync(join(folder, 'unpacked'), { recursive: true })
      mkdirSync(join(folder, 'unpacked'))
    }
    rmSync(folder, { recursive: true })
  })
})
