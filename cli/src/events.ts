/** `workspace events`. */
import { Option } from '@commander-js/extra-typings'
import type { Workspace, WorkspaceEvent } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import { describe, given, withLimit } from './command.ts'
import { eventEndpoints } from './event-endpoints.ts'
import { type Columns, type OutputOptions, printEach, printList } from './output.ts'
import { connect, pageSize } from './service.ts'

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
    .option('--project <id>', 'only events of this project')
    .option('--key <id>', 'only changes with this API key')
    .option('--user <id>', 'only changes by keys that act as this user')
    .addOption(new Option('--since <time>', 'only events at or after this time').conflicts(['follow', 'after']))
    .addOption(new Option('--until <time>', 'only events before this time').conflicts(['follow', 'after']))
    .addOption(new Option('--follow', 'print each event when it happens').conflicts('limit'))
    .option('--after <cursor>', 'only events after this cursor, which --follow and --after print'),
  50,
).action(async ({ types, resource, project, key, user, since, until, follow, after, json, limit = 50 }) => {
  const workspace = connect()
  const filters = given({ types, resource, projectId: project, apiKeyId: key, userId: user })
  if (follow) return printFollowed(workspace, { json }, filters, after)
  const query = { ...filters, ...given({ since, until }), limit: pageSize(limit) }
  const listed =
    after === undefined
      ? workspace.auditEvents.list(query)
      : eventsAfter(workspace, { ...filters, limit: pageSize(limit) }, after)
  await printList({ json, limit }, listed, COLUMNS)
})

const SERVICE = 'the service'
const continuation = (cursor: unknown) => `To continue: --after ${printable(String(cursor))}`
const nameOf = ({ resource: { name, id } }: WorkspaceEvent) => name ?? id

const COLUMNS: Columns<WorkspaceEvent> = {
  TIME: ({ createdAt }) => createdAt,
  TYPE: ({ type }) => type,
  RESOURCE: nameOf,
  PROJECT: ({ projectId }) => projectId,
  BY: ({ actor }) => actor?.apiKeyName ?? SERVICE,
  USER: ({ actor }) => actor?.userId,
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
    const { createdAt, type, projectId, actor } = event
    const project = projectId === null ? '' : ` in ${projectId}`
    const user = actor?.userId ? ` (${actor.userId})` : ''
    return `${createdAt}  ${type.padEnd(28)} ${nameOf(event)}${project}, by ${actor?.apiKeyName ?? SERVICE}${user}`
  })
  if (feed.cursor !== 'now') console.error(continuation(feed.cursor))
}

events.enablePositionalOptions().addCommand(eventEndpoints)
