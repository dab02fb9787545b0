/** The skills of a service, for the commands that push and pull them. */
import type { components, Workspace } from '../../../client/src/index.ts'
import { pageSize } from '../service.ts'
import { computeFingerprint, type Fingerprints, isIgnored } from './folder.ts'

type Schemas = components['schemas']

/** A file of `GET /v1/skills/{skillId}/versions/{version}`. */
export type VersionFile = Schemas['SkillVersion']['files'][number]

export interface SkillVersion {
  /** Of the skill. Null if the version is not the current one. */
  readonly etag: string | null
  readonly files: readonly VersionFile[]
}

/** @returns the IDs of the skills by name. */
export async function listSkills(workspace: Workspace): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for await (const { id, name } of workspace.skills.list({ limit: pageSize() })) ids.set(name, id)
  return ids
}

/** @returns true if nobody changed the skill since it had the ETag. */
export async function hasTag(workspace: Workspace, skillId: string, etag: string): Promise<boolean> {
  return (await workspace.skills.retrieve(skillId, { ifNoneMatch: etag })) === null
}

/** @param version the current one if it is left out. */
export async function readVersion(workspace: Workspace, id: string, version?: number): Promise<SkillVersion> {
  // The ETag comes first: if the skill changes before its files are read, a change with this ETag fails. Without a
  // body, because `*` matches every ETag.
  const { response } = await workspace.skills.retrieve(id, { ifNoneMatch: '*' }).withResponse()
  const number = version ?? (await currentVersion(workspace, id))
  const { isCurrent, files } = await workspace.skills.versions.retrieve(id, number)
  return { etag: isCurrent ? response.headers.get('ETag') : null, files }
}

/** The latest version is the current one, unless an earlier one was published again. */
async function currentVersion(workspace: Workspace, id: string): Promise<number> {
  for (const limit of [1, 1000]) {
    const current = (await listVersions(workspace, id, limit)).find(({ isCurrent }) => isCurrent)
    if (current) return current.version
  }
  throw new Error('none of the latest 1000 versions is the current one')
}

/** The files of each version, the latest first. Each is read when it is asked for. */
export async function* earlierFiles(workspace: Workspace, id: string): AsyncGenerator<Fingerprints> {
  for (const { version } of await listVersions(workspace, id)) {
    yield computeFingerprints((await workspace.skills.versions.retrieve(id, version)).files)
  }
}

/** The latest first. */
export async function listVersions(
  workspace: Workspace,
  skillId: string,
  limit = 1000,
): Promise<readonly Schemas['SkillVersionPage']['items'][number][]> {
  return (await workspace.skills.versions.list(skillId, { limit }).page()).items
}

/** Of what is part of a skill's folder. */
export function computeFingerprints(
  files: readonly Pick<VersionFile, 'filename' | 'sha256' | 'executable'>[],
): Fingerprints {
  return new Map(
    files.filter(({ filename }) => !isIgnored(filename)).map((file) => [file.filename, computeFingerprint(file)]),
  )
}
