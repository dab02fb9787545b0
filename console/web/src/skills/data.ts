/** What the pages ask the API about skills and their feeds, and what they tell it to do. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../../client/src/api.ts'
import { refresh, workspace } from '../api.ts'
import { queryClient } from '../connection.ts'
import { creator } from '../keys/data.ts'
import { growingQuery, listQuery } from '../lists.ts'

type Schemas = components['schemas']
export type SkillSummary = Schemas['SkillSummary']
export type Version = Schemas['SkillVersion']
export type VersionSummary = Schemas['SkillVersionSummary']
export type Feed = Schemas['SkillFeed']
export type NewFeed = Schemas['NewSkillFeed']

/** A file of a version, and of what becomes one. */
export type SkillFile = Pick<Version['files'][number], 'filename' | 'content' | 'encoding' | 'executable'>

export const ENTRY_FILE = 'SKILL.md'

const PAGE = 50

export const skillsQuery = (query: string | undefined) =>
  growingQuery({
    queryKey: ['skills', 'list', query],
    limit: PAGE,
    read: (limit, cursor) => workspace.skills.list({ query, limit, cursor }).page(),
  })

const MAX_VERSIONS = 1000

export interface Skill {
  /** The latest first. */
  readonly versions: readonly VersionSummary[]
  readonly current: VersionSummary
  /** The ETag of the current version. */
  readonly etag: string | null
}

export const skillQuery = (skillId: string) =>
  queryOptions({
    queryKey: ['skills', 'one', skillId],
    queryFn: async (): Promise<Skill> => {
      // The ETag comes first: if the skill changes before its versions are read, a change with this ETag is refused.
      // Without the files, because `*` matches every ETag.
      const { response } = await workspace.skills.retrieve(skillId, { ifNoneMatch: '*' }).withResponse()
      const { items } = await workspace.skills.versions.list(skillId, { limit: MAX_VERSIONS }).page()
      const current = items.find(({ isCurrent }) => isCurrent)
      if (!current) throw new Error(`None of the latest ${MAX_VERSIONS} versions is the current one.`)
      return { versions: items, current, etag: response.headers.get('ETag') }
    },
  })

/** How long the files of a version stay in memory after they were shown. */
const KEPT_MS = 5 * 60_000

/** A version with its files. */
export const versionQuery = (skillId: string, version: number) =>
  queryOptions({
    // The key does not begin with `skills`: the files of a version stay the same, whatever event there is.
    queryKey: ['contents', skillId, version],
    queryFn: () => workspace.skills.versions.retrieve(skillId, version),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
  })

/** The current version as it is now, with its files. */
export async function readCurrent(skillId: string): Promise<{ version: Version; etag: string | null }> {
  const { current, etag } = await queryClient.fetchQuery({ ...skillQuery(skillId), staleTime: 0 })
  return { version: await queryClient.fetchQuery(versionQuery(skillId, current.version)), etag }
}

/** The version before another, of those that are kept. */
export function versionBefore(versions: readonly VersionSummary[], version: number): number | undefined {
  return versions.find((each) => each.version < version)?.version
}

export const archivePath = (skillId: string, version: number) => `/api/v1/skills/${skillId}/archive?version=${version}`

/** Contents of 8 MiB on a slow line. */
const SAVE_TIMEOUT_MS = 5 * 60_000

/** @param skillId undefined for a new skill. @returns the ID of the skill. */
export async function save(
  skillId: string | undefined,
  files: readonly SkillFile[],
  message: string,
  etag: string | null,
): Promise<string> {
  const body = {
    files: files.map(({ filename, content, encoding, executable }) => ({ filename, content, encoding, executable })),
    ...(message.trim() !== '' && { message: message.trim() }),
  }
  const options = { timeout: SAVE_TIMEOUT_MS }
  const { id } =
    skillId === undefined
      ? await workspace.skills.create(body, options)
      : await workspace.skills.update(skillId, body, { ...options, ...(etag !== null && { ifMatch: etag }) })
  await refreshSkills()
  return id
}

export async function publish(skillId: string, version: number, etag: string | null): Promise<void> {
  await workspace.skills.publish(skillId, { version }, etag === null ? {} : { ifMatch: etag })
  await refreshSkills()
}

export async function remove(skillId: string): Promise<void> {
  await workspace.skills.delete(skillId)
}

export const refreshSkills = () => refresh('skills')

/** An organization has fewer feeds. */
const MAX_FEEDS = 1000

export const feedsQuery = listQuery(['skill-feeds'], () => workspace.skillFeeds.list({ limit: MAX_FEEDS }).page())

/** What a feed can name: more skills than it may have. */
export const namesOfSkillsQuery = listQuery(['skills', 'names'], () => workspace.skills.list({ limit: 1000 }).page())

/** @param apiKey the key that the feed ends with; undefined: it ends with the session. */
export async function createFeed(feed: NewFeed, apiKey: string | undefined): Promise<Schemas['SkillFeedWithUrl']> {
  const { skillFeeds } = await creator(apiKey)
  const created = await skillFeeds.create(feed)
  await refresh('skill-feeds')
  return created
}

export async function revokeFeed(feedId: string): Promise<void> {
  await workspace.skillFeeds.delete(feedId)
  await refresh('skill-feeds')
}
