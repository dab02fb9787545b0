import { hash } from 'node:crypto'
import { unpackTar } from 'modern-tar'
import { describe, expect, it } from 'vitest'
import { type ArchivedFile, createArchive } from '../../../src/resources/skills/archive.ts'
import { problemOfArchivedFilename } from '../../../src/resources/skills/archived-filename.ts'

const fileOf = (filename: string, content = '', isExecutable = false): ArchivedFile => ({
  filename,
  bytes: new TextEncoder().encode(content),
  isExecutable,
})

async function tarOf(archive: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const tar = new Blob([archive]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(tar).arrayBuffer())
}

describe('the archive of a skill', () => {
  const files = [fileOf('SKILL.md', '# Notes\n'), fileOf('bin/run.sh', '#!/bin/sh\n', true), fileOf('empty')]

  /** A change of the tar changes the digest of every skill. */
  const TAR_SHA256 = 'd4ad0cc4a0c5bebb06150956538dc3be349f8fe46abb3fca62b6040491a10e05'

  it('has its files with their bits, and nothing of the time or the user', async () => {
    const entries = await unpackTar(await tarOf(await createArchive(files)), { strict: true })
    expect(entries.map(({ header, data }) => [header, new TextDecoder().decode(data)])).toEqual(
      [
        ['SKILL.md', 0o644, '# Notes\n'] as const,
        ['bin/run.sh', 0o755, '#!/bin/sh\n'] as const,
        ['empty', 0o644, ''] as const,
      ].map(([name, mode, content]) => [
        expect.objectContaining({
          name,
          mode,
          type: 'file',
          mtime: new Date(0),
          uid: 0,
          gid: 0,
          uname: '',
          gname: '',
        }),
        content,
      ]),
    )
  })

  it('is the same in any order of the files, down to the byte', async () => {
    const archive = await createArchive(files)
    expect(await createArchive(files.toReversed())).toEqual(archive)
    expect(hash('sha256', await tarOf(archive))).toBe(TAR_SHA256)
  })

  it('is gzip without a time and a name', async () => {
    const [...start] = (await createArchive(files)).subarray(0, 8)
    expect(start).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0])
  })

  it('is sorted by the bytes of the filenames', async () => {
    const names = ['A', 'a', 'a-b', 'a/b', 'a0', 'é', '\ufffd', '😀']
    const entries = await unpackTar(await tarOf(await createArchive(names.toReversed().map((name) => fileOf(name)))))
    expect(entries.map(({ header }) => header.name)).toEqual(names)
  })

  it('has a prefix for a filename of more than 100 bytes, and no extended header', async () => {
    const names = [
      'a'.repeat(100),
      `${'b'.repeat(155)}/${'c'.repeat(100)}`,
      `${'d/'.repeat(77)}d/${'e'.repeat(100)}`,
      `é/${'f'.repeat(97)}é`,
      `${'é'.repeat(77)}/${'é'.repeat(50)}`,
    ]
    for (const name of names) expect(problemOfArchivedFilename(name)).toBeUndefined()
    const tar = await tarOf(await createArchive(names.map((name) => fileOf(name))))
    // A header each, and two empty blocks.
    expect(tar.length).toBe(512 * (names.length + 2))
    const entries = await unpackTar(tar, { strict: true })
    expect(entries.map(({ header }) => header.name)).toEqual(names)
    for (const { header } of entries) expect(header.pax).toBeUndefined()
  })

  it.each([
    ['a'.repeat(101), 101],
    [`${'a'.repeat(156)}/b`, 158],
    [`a/${'b'.repeat(101)}`, 103],
    [`${'a'.repeat(50)}/${'b'.repeat(105)}/${'c'.repeat(100)}`, 257],
    [`/${'a'.repeat(100)}`, 101],
    [`a/${'é'.repeat(51)}`, 104],
    [`${'é'.repeat(78)}/a`, 158],
  ])('does not have the filename %s', async (filename, bytes) => {
    expect(problemOfArchivedFilename(filename)).toEqual({
      wrong: 'is too long for an archive',
      sent: `${bytes} bytes in UTF-8`,
      allowed: 'up to 100 bytes in UTF-8, or a folder of up to 155 bytes, "/" and up to 100 bytes',
    })
    await expect(createArchive([fileOf(filename)])).rejects.toThrow(RangeError)
  })

  it('is made of 500 files of 8 MiB together', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(2 ** 14))
    const many = Array.from({ length: 500 }, (_, index) => ({ ...fileOf(`${index}`), bytes }))
    expect((await tarOf(await createArchive(many))).length).toBe(500 * (512 + 2 ** 14) + 1024)
  })
})
