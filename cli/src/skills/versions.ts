/** The skills of a service, for the commands that push and pull them. */
import { type components, type Workspace, WorkspaceError } from '../../../client/src/index.ts'
import { printable } from '../../../client/src/printable.ts'
import { skillFilename } from '../../../src/contracts.ts'
import { pageSize } from '../service.ts'
import { computeFingerprint, type Fingerprints, isIgnored } from './folder.ts'

type Schemas = components['schemas']

/** A file of `GET /v1/skills/{skillId}/versions/{version}`. */
export type VersionFile = Schemas['SkillVersion']['files'][number]

export type VersionSummary = Schemas['SkillVersionSummary']

export type SkillVersion = Schemas['SkillVersion'] & {
  /** The ETag of the skill. Null if the version is not the current one. */
  readonly etag: string | null
}

/** @returns the IDs of the skills by name. */
export async function listSkills(workspace: Workspace): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for await (const { id, name } of workspace.skills.list({ limit: pageSize() })) ids.set(name, id)
  return ids
}

/** @returns the ID of a skill. @throws if there is no skill with this name. */
export async function findSkill(workspace: Workspace, name: string): Promise<string> {
  const [skill] = (await workspace.skills.list({ name }).page()).items
  if (!skill) throw new Error(`There is no skill with the name ${name}.`)
  return skill.id
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
  const read = await workspace.skills.versions.retrieve(id, number)
  for (const { filename } of read.files) checkFilename(filename)
  return { ...read, etag: read.isCurrent ? response.headers.get('ETag') : null }
}

/** The service checks filenames, too, but another server may answer. */
function checkFilename(filename: string): void {
  const result = skillFilename().safeParse(filename)
  if (!result.success || result.data !== filename) {
    throw new Error(`the service has a filename that no file of a skill can have: ${JSON.stringify(filename)}`)
  }
}

/** Which version it is and who made it, in one line: the name of the user, if the API key may read it. */
export async function describeVersion(workspace: Workspace, version: VersionSummary): Promise<string> {
  return printable(`version ${version.version} by ${await nameOfMaker(workspace, version)}`)
}

async function nameOfMaker(workspace: Workspace, { userId, apiKeyId }: VersionSummary): Promise<string> {
  if (userId === null) return `the API key ${apiKeyId}`
  try {
    return (await workspace.users.retrieve(userId)).name
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error
    return `the user ${userId}`
  }
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
export async function* earlierFiles(workspace: Workspace, id: string): AsyncGenerator<readonly VersionFile[]> {
  for (const { version } of await listVersions(workspace, id)) {
    yield (await workspace.skills.versions.retrieve(id, version)).files
  }
}

/** The latest first. */
export async function listVersions(
  workspace: Workspace,
  skillId: string,
  limit = 1000,
): Promise<readonly VersionSummary[]> {
  return (await workspace.skills.versions.list(skillId, { limit }).page()).items
}

/** The hashes of what is part of a skill's folder. */
export function computeFingerprints(
  files: readonly Pick<VersionFile, 'filename' | 'sha256' | 'executable'>[],
): Fingerprints {
  return new Map(
    files.filter(({ filename }) => !isIgnored(filename)).map((file) => [file.filename, computeFingerprint(file)]),
  )
}
