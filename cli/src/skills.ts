/** `workspace skills`. */
import type { Workspace } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import { countOf, positiveInteger, UsageError } from '../../command-line/src/index.ts'
import { describe, given, group, withJson, withLimit, withTimes } from './command.ts'
import { print, printBytes, printList, printProperties } from './output.ts'
import { KINDS, resolve } from './resolve.ts'
import { connect, pageSize } from './service.ts'
import { diff } from './skills/diff.ts'
import { pull } from './skills/pull.ts'
import { push } from './skills/push.ts'
import { describeVersion, listSkills, listVersions, readVersion } from './skills/versions.ts'
import { time, timeText } from './times.ts'

const SKILL = ['<skill>', 'the name of the skill, its ID, or the first characters of its ID'] as const

const list = withLimit(
  describe('list', 'Lists the skills with their latest versions.', ['skills list', 'skills list --limit 10 --json']),
).action(async (options) => {
  await printList(options, withLatestVersion(connect(), options.limit), {
    NAME: ({ name }) => name,
    VERSION: ({ latestVersion }) => latestVersion,
    ID: ({ id }) => id,
  })
})

async function* withLatestVersion(workspace: Workspace, limit?: number) {
  for await (const skill of workspace.skills.list({ limit: pageSize(limit) })) {
    const [latest] = await listVersions(workspace, skill.id, 1)
    yield { ...skill, latestVersion: latest?.version }
  }
}

const show = withTimes(
  describe('show', 'Shows a skill with the names of its files, or writes one of its files to standard output.', [
    'skills show release-notes',
    'skills show release-notes SKILL.md',
    'skills show release-notes SKILL.md --version 1',
  ])
    .argument(...SKILL)
    .argument('[file]', 'the name of a file of the skill')
    .option('--version <number>', 'a version instead of the current one', positiveInteger),
).action(async (text, filename, { version: number, json, utc }) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.skill, text)
  const { etag, ...version } = await readVersion(workspace, id, number)
  if (filename === undefined) {
    printProperties(
      { json, utc },
      { id, ...version },
      {
        skill: `${version.name} (${id})`,
        description: version.description,
        version: version.version,
        current: version.isCurrent ? 'yes' : 'no',
        made: `${timeText(version.createdAt, { utc })}, ${await describeVersion(workspace, version)}`,
        message: version.message,
        files: countOf(version.files.length, 'file'),
        ...Object.fromEntries(version.files.map((file) => [`  ${file.filename}`, countOf(file.sizeBytes, 'byte')])),
      },
    )
    return
  }
  const file = version.files.find((each) => each.filename === filename)
  if (!file) throw new Error(`Version ${version.version} of the skill has no file ${filename}.`)
  if (json) print({ json }, file, '')
  else await printBytes([Buffer.from(file.content, file.encoding)])
})

const versions = withLimit(
  describe('versions', 'Lists the versions of a skill, the latest first.', [
    'skills versions release-notes',
    'skills versions release-notes --limit 10 --json',
  ]).argument(...SKILL),
).action(async (text, options) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.skill, text)
  await printList(options, workspace.skills.versions.list(id, { limit: pageSize(options.limit) }), {
    VERSION: ({ version }) => version,
    CURRENT: ({ isCurrent }) => (isCurrent ? 'current' : ''),
    MADE: ({ createdAt }) => time(createdAt),
    BY: ({ userId, apiKeyId }) => userId ?? apiKeyId,
    MESSAGE: ({ message }) => message,
  })
})

const publish = withJson(
  describe('publish', 'Makes a version of a skill the current one, for example an earlier one.', [
    'skills publish release-notes 1',
  ])
    .argument(...SKILL)
    .argument('<version>', 'the number of the version', positiveInteger),
).action(async (text, version, options) => {
  const workspace = connect()
  const skill = await workspace.skills.publish(await resolve(workspace, KINDS.skill, text), { version })
  print(options, skill, `Version ${version} of ${skill.name} is current.`)
})

const deleteSkill = withJson(
  describe('delete', 'Deletes a skill with all of its versions. Folders that have it stay as they are.', [
    'skills delete release-notes',
  ]).argument(...SKILL),
).action(async (text, options) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.skill, text)
  print(options, await workspace.skills.delete(id), `Deleted ${text}.`)
})

const createFeed = withJson(
  describe(
    'create',
    'Creates a feed, and prints its URL, from which anyone installs its skills with `npx skills add`. The URL is a secret, and is shown only once.',
    [
      'skills feed create Laptops',
      'skills feed create CI --skill release-notes@1 review --expires 2026-12-31T00:00:00Z',
    ],
  )
    .argument('<name>', 'what the feed is for')
    .option('--skill <name...>', 'only these skills; name@version stays at a version; default: all skills')
    .option('--expires <time>', 'when the feed ends; default: never'),
).action(async (name, { skill: names, expires: expiresAt, json }) => {
  const named = names?.map((each) => {
    const [skill = '', version] = each.split('@')
    if (version !== undefined && !/^\d+$/.test(version)) {
      throw new UsageError(`--skill has a wrong version; got "${each}"; allowed: a number, as in ${skill}@1.`)
    }
    return { skill, version }
  })
  const workspace = connect()
  const ids = named && (await listSkills(workspace))
  const skills = named?.map(({ skill, version }) => {
    const skillId = ids?.get(skill)
    if (skillId === undefined) throw new Error(`There is no skill with the name ${skill}.`)
    return { skillId, ...(version !== undefined && { version: Number(version) }) }
  })
  const body = { name, ...given({ skills, expiresAt }) }
  const feed = await workspace.skillFeeds.create(body)
  if (!json) console.error(`Created ${printable(feed.id)}. Its URL is shown only now:`)
  print({ json }, feed, feed.url)
})

const listFeeds = withLimit(
  describe('list', 'Lists the feeds, without their URLs.', ['skills feed list', 'skills feed list --json']),
).action(async (options) => {
  await printList(options, connect().skillFeeds.list({ limit: pageSize(options.limit) }), {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    SKILLS: ({ skills }) => skills?.length ?? 'all',
    EXPIRES: ({ expiresAt }) => time(expiresAt) ?? 'never',
  })
})

const deleteFeed = withJson(
  describe('delete', 'Deletes a feed. Its URL ends at once; what was installed stays installed.', [
    'skills feed delete Laptops',
    'skills feed delete 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900',
  ]).argument('<feed>', 'the ID of the feed, its first characters, or its name'),
).action(async (text, options) => {
  const workspace = connect()
  const feedId = await resolve(workspace, KINDS.skillFeed, text)
  print(options, await workspace.skillFeeds.delete(feedId), `Deleted ${feedId}.`)
})

const feed = group(
  'feed',
  'Creates, lists and deletes feeds, from which coding agents install skills.',
  ['skills feed create Laptops', 'skills feed list'],
  [createFeed, listFeeds, deleteFeed],
)

export const skills = group(
  'skills',
  'Copies skills between folders and the service, compares and merges them, lists them, and makes feeds of them.',
  ['skills push path/to/skills', 'skills pull path/to/skills', 'skills feed create Laptops'],
  [push, pull, diff, list, show, versions, publish, deleteSkill, feed],
)
