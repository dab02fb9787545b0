/** The skills of a service, for the commands that push and pull them. */
import { dataOf, type ItemOf, items, type WorkspaceClient } from '../../../client/src/index.ts'
import { NOT_MODIFIED, pageSize } from '../service.ts'
import { computeFingerprint, type Fingerprints, isIgnored } from './folder.ts'

const SKILL = '/v1/skills/{skillId}'
const VERSIONS = `${SKILL}/versions`

type Version = Awaited<ReturnType<typeof retrieve>>

/** A file of `GET /v1/skills/{skillId}/versions/{version}`. */
export type VersionFile = Version['files'][number]

export interface SkillVersion {
  /** Of the skill. Null if the version is not the current one. */
  readonly etag: string | null
  readonly files: readonly VersionFile[]
}

/** @returns the IDs of the skills by name. */
export async function listSkills(client: WorkspaceClient): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const skills = items(client, '/v1/skills', { params: { query: { limit: pageSize() } } })
  for await (const { id, name } of skills) ids.set(name, id)
  return ids
}

/** @returns true if nobody changed the skill since it had the ETag. */
export async function hasTag(client: WorkspaceClient, skillId: string, etag: string): Promise<boolean> {
  const result = await getUnless(client, skillId, etag)
  if (result.response.status === NOT_MODIFIED) return true
  dataOf(result)
  return false
}

function getUnless(client: WorkspaceClient, skillId: string, etag: string) {
  return client.GET(SKILL, { params: { path: { skillId }, header: { 'If-None-Match': etag } } })
}

/** @param version the current one if it is left out. */
export async function readVersion(client: WorkspaceClient, id: string, version?: number): Promise<SkillVersion> {
  // The ETag comes first: if the skill changes before its files are read, a change with this ETag fails. Without a
  // body, because `*` matches every ETag.
  const result = await getUnless(client, id, '*')
  if (result.response.status !== NOT_MODIFIED) dataOf(result)
  const { isCurrent, files } = await retrieve(client, id, version ?? (await currentVersion(client, id)))
  return { etag: isCurrent ? result.response.headers.get('ETag') : null, files }
}

async function retrieve(client: WorkspaceClient, skillId: string, version: number) {
  const path = { skillId, version: String(version) }
  return dataOf(await client.GET(`${VERSIONS}/{version}`, { params: { path } }))
}

/** The latest version is the current one, unless an earlier one was published again. */
async function currentVersion(client: WorkspaceClient, id: string): Promise<number> {
  for (const limit of [1, 1000]) {
    const current = (await listVersions(client, id, limit)).find(({ isCurrent }) => isCurrent)
    if (current) return current.version
  }
  throw new Error('none of the latest 1000 versions is the current one')
}

/** The files of each version, the latest first. Each is read when it is asked for. */
export async function* earlierFiles(client: WorkspaceClient, id: string): AsyncGenerator<Fingerprints> {
  for (const { version } of await listVersions(client, id)) {
    yield computeFingerprints((await retrieve(client, id, version)).files)
  }
}

/** The latest first. */
export async function listVersions(
  client: WorkspaceClient,
  skillId: string,
  limit = 1000,
): Promise<readonly ItemOf<typeof VERSIONS>[]> {
  const params = { path: { skillId }, query: { limit: String(limit) } }
  return dataOf(await client.GET(VERSIONS, { params })).items
}

/** Of what is part of a skill's folder. */
export function computeFingerprints(
  files: readonly Pick<VersionFile, 'filename' | 'sha256' | 'executable'>[],
): Fingerprints {
  return new Map(
    files.filter(({ filename }) => !isIgnored(filename)).map((file) => [file.filename, computeFingerprint(file)]),
  )
}
