/** `workspace events`. */
import { Option } from '@commander-js/extra-typings'
import type { Workspace, WorkspaceEvent } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import { localTime } from '../../command-line/src/times.ts'
import { sentenceOf } from '../../src/contracts.ts'
import { describe, given, withLimit } from './command.ts'
import { eventEndpoints } from './event-endpoints.ts'
import { type Columns, type OutputOptions, printEach, printList } from './output.ts'
import { KINDS, resolveOption } from './resolve.ts'
import { connect, pageSize } from './service.ts'
import { time } from './times.ts'

export const events = withLimit(
  describe(
    'events',
    'Lists the changes in the organization, the latest first; with --after, those after a cursor, in order. With --follow, prints each change from now on or after a cursor, until Ctrl-C. The API key needs the scope audit-events:read; one that is restricted to projects needs --follow or --after.',
    [
      "events --types 'skill.*,schedule.paused' --since 2026-03-01T00:00:00Z",
      'events --resource project/website --limit 1000 --json',
      'events --follow --project website',
    ],
  )
    .option('--types <list>', 'only events of these types, separated by commas, such as skill.*')
    .option('--resource <resource>', 'only events of this resource: its type, a slash and its ID')
    .option('--project <project>', 'only events of this project')
    .option('--key <key>', 'only changes with this API key')
    .option('--user <user>', 'only changes by keys that act as this user')
    .addOption(new Option('--since <time>', 'only events at or after this time').conflicts(['follow', 'after']))
    .addOption(new Option('--until <time>', 'only events before this time').conflicts(['follow', 'after']))
    .addOption(new Option('--follow', 'print each event when it happens').conflicts('limit'))
    .option('--after <cursor>', 'only events after this cursor, which --follow and --after print'),
  50,
).action(async ({ types, resource, project, key, user, since, until, follow, after, limit = 50, ...output }) => {
  const workspace = connect()
  const projectId = await resolveOption(workspace, KINDS.project, project)
  const apiKeyId = await resolveOption(workspace, KINDS.apiKey, key)
  const userId = await resolveOption(workspace, KINDS.user, user)
  const filters = given({ types, resource, projectId, apiKeyId, userId })
  if (follow) return printFollowed(workspace, output, filters, after)
  const query = { ...filters, ...given({ since, until }), limit: pageSize(limit) }
  const listed =
    after === undefined
      ? workspace.auditEvents.list(query)
      : eventsAfter(workspace, { ...filters, limit: pageSize(limit) }, after)
  await printList({ ...output, limit }, listed, COLUMNS, {
    TYPE: ({ type }) => type,
    RESOURCE: ({ resource }) => resource.path,
    REQUEST: ({ requestId }) => requestId,
  })
})

const continuation = (cursor: unknown) => `To continue: --after ${printable(String(cursor))}`
const COLUMNS: Columns<WorkspaceEvent> = { TIME: ({ createdAt }) => time(createdAt), EVENT: whatHappened }

/** Such as "laptop (ada) paused the schedule Nightly review in website". */
function whatHappened(event: WorkspaceEvent): string {
  const { actor } = event
  const user = actor && (actor.userId ? `${actor.apiKeyName} (${actor.userId})` : actor.apiKeyName)
  return sentenceOf(event, { user, project: null }, (name) => name)
}

/** The events that are there now. */
async function* eventsAfter(workspace: Workspace, filters: object, first: string) {
  for (let after = first; ; ) {
    const { items, nextCursor, hasMore } = await workspace.events.list({ ...filters, after }).page()
    yield* items
    after = nextCursor
    if (hasMore) continue
    console.error(continuation(after))
    return
  }
}

/** Prints the events until a signal. */
async function printFollowed(workspace: Workspace, output: OutputOptions, filters: object, after = 'now') {
  const finish = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => finish.abort())
  const onFailure = (error: Error) => console.error(error.message)
  const feed = workspace.events.follow({ ...filters, after, signal: finish.signal, onFailure })
  await printEach(output, feed, (event) => {
    const createdAt = time(event.createdAt)
    const shown = createdAt instanceof Date && !output.utc ? localTime(createdAt) : event.createdAt
    return `${shown}  ${whatHappened(event)}`
  })
  if (feed.cursor !== 'now') console.error(continuation(feed.cursor))
}

events.enablePositionalOptions().addCommand(eventEndpoints)
