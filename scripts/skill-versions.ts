/** The skills of a running service, for the commands that push and pull them. */
import { NOT_MODIFIED, type Service } from './service.ts'
import { type Fingerprints, fingerprintOf, isIgnored } from './skill-folder.ts'

/** A file of `GET /v1/skills/{skillId}/versions/{version}`. */
export interface VersionFile {
  readonly filename: string
  readonly content: string
  readonly encoding: 'utf-8' | 'base64'
  readonly executable: boolean
  readonly sha256: string
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

interface VersionSummary {
  readonly version: number
  readonly isCurrent: boolean
}

export interface SkillVersion {
  /** Of the skill. Null if the version is not the current one. */
  readonly etag: string | null
  readonly files: readonly VersionFile[]
}

/** @returns the IDs of the skills by name. */
export async function listSkills(service: Service): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `/v1/skills?limit=1000${cursor && `&cursor=${cursor}`}`
    const { body } = await service.send<Page<{ id: string; name: string }>>('GET', path)
    for (const { id, name } of body.items) ids.set(name, id)
    cursor = body.nextCursor
  }
  return ids
}

/** @returns true if nobody changed the skill since it had the ETag. */
export async function hasTag(service: Service, id: string, etag: string): Promise<boolean> {
  const headers = { 'If-None-Match': etag }
  return (await service.send('GET', `/v1/skills/${id}`, undefined, headers)).status === NOT_MODIFIED
}

/** @param version the current one if it is left out. */
export async function readVersion(service: Service, id: string, version?: number): Promise<SkillVersion> {
  // The ETag comes first: if the skill changes before its files are read, a change with this ETag fails. Without a body,
  // because `*` matches every ETag.
  const headers = { 'If-None-Match': '*' }
  const { etag } = await service.send('GET', `/v1/skills/${id}`, undefined, headers)
  const { isCurrent, files } = await retrieve(service, id, version ?? (await currentVersion(service, id)))
  return { etag: isCurrent ? etag : null, files }
}

async function retrieve(service: Service, id: string, version: number) {
  const path = `/v1/skills/${id}/versions/${version}`
  return (await service.send<{ isCurrent: boolean; files: VersionFile[] }>('GET', path)).body
}

/** The latest version is the current one, unless an earlier one was published again. */
async function currentVersion(service: Service, id: string): Promise<number> {
  for (const limit of [1, 1000]) {
    const current = (await listVersions(service, id, limit)).find(({ isCurrent }) => isCurrent)
    if (current) return current.version
  }
  throw new Error('none of the latest 1000 versions is the current one')
}

/** The files of each version, the latest first. Each is read when it is asked for. */
export async function* earlierFiles(service: Service, id: string): AsyncGenerator<Fingerprints> {
  for (const { version } of await listVersions(service, id)) {
    yield fingerprintsOf((await retrieve(service, id, version)).files)
  }
}

/** The latest first. */
async function listVersions(service: Service, id: string, limit = 1000) {
  const { body } = await service.send<Page<VersionSummary>>('GET', `/v1/skills/${id}/versions?limit=${limit}`)
  return body.items
}

/** Of what is part of a skill's folder. */
export function fingerprintsOf(
  files: readonly Pick<VersionFile, 'filename' | 'sha256' | 'executable'>[],
): Fingerprints {
  return new Map(
    files.filter(({ filename }) => !isIgnored(filename)).map((file) => [file.filename, fingerprintOf(file)]),
  )
}
