/** `workspace skills`. */
import type { Workspace } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { describe, given, group, withJson, withLimit } from './command.ts'
import { print, printList } from './output.ts'
import { connect, pageSize } from './service.ts'
import { pull } from './skills/pull.ts'
import { push } from './skills/push.ts'
import { listSkills, listVersions } from './skills/versions.ts'

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
    EXPIRES: ({ expiresAt }) => expiresAt ?? 'never',
  })
})

const deleteFeed = withJson(
  describe('delete', 'Deletes a feed. Its URL ends at once; what was installed stays installed.', [
    'skills feed delete 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900',
  ]).argument('<id>', 'the ID of the feed'),
).action(async (feedId, options) => {
  print(options, await connect().skillFeeds.delete(feedId), `Deleted ${feedId}.`)
})

const feed = group(
  'feed',
  'Creates, lists and deletes feeds, from which coding agents install skills.',
  ['skills feed create Laptops', 'skills feed list'],
  [createFeed, listFeeds, deleteFeed],
)

export const skills = group(
  'skills',
  'Copies skills between folders and the service, lists them, and makes feeds of them.',
  ['skills push path/to/skills', 'skills pull path/to/skills', 'skills feed create Laptops'],
  [push, pull, list, feed],
)
