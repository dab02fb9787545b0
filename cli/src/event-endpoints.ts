/** `workspace events endpoints`. */
import { Option } from '@commander-js/extra-typings'
import type { Body } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import { describe, given, group, withJson, withLimit, withOverlap } from './command.ts'
import { attemptText, print, printList } from './output.ts'
import { readUrl, URL_ARGUMENT } from './prompt.ts'
import { KINDS, resolve, resolveOption } from './resolve.ts'
import { connect } from './service.ts'
import { timeText } from './times.ts'

const ID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c75'

// The service says which types there are.
const typesOf = (list: string) => (list === 'all' ? null : list.split(',')) as Body<'createEventEndpoint'>['types']
const ENDPOINT = ['<id>', 'the ID of the event endpoint, or its first characters'] as const

const list = withLimit(
  describe('list', 'Lists the event endpoints, and how far behind they are.', ['events endpoints list']),
).action(async (output) => {
  const shown = (text: string | null) => timeText(text, output)
  await printList(output, connect().eventEndpoints.list(), {
    ID: ({ id }) => id,
    URL: ({ url }) => url,
    FORMAT: ({ format }) => format,
    TYPES: ({ types }) => types ?? 'all',
    PROJECT: ({ projectId }) => projectId ?? 'all',
    BEHIND: ({ behind }) => behind,
    STATE: ({ disabledAt, failingSince, nextAttemptAt, disabledReason }) => {
      if (disabledAt !== null) return `disabled ${shown(disabledAt)}: ${disabledReason}`
      if (failingSince === null) return 'working'
      return `failing since ${shown(failingSince)}${nextAttemptAt === null ? '' : `, next attempt ${shown(nextAttemptAt)}`}`
    },
  })
})

const create = withJson(
  describe(
    'create',
    'Creates an event endpoint, which is sent each event from now on, and prints its secret. The secret is shown only once.',
    [
      "events endpoints create https://hooks.example.com/events --types 'skill.*,schedule.paused'",
      'events endpoints create - --text --project website < slack-webhook-url',
    ],
  )
    .argument('<url>', URL_ARGUMENT)
    .option('--text', 'send sentences, as chats take them, in place of signed pages of events')
    .option('--types <list>', 'only events of these types, separated by commas; default: all')
    .option('--project <project>', 'only events of this project')
    .option('--note <text>', 'what it is for')
    .option('--no-batch', 'send each event in a message of its own'),
).action(async (url, { text: isText, types, project, note, batch, json }) => {
  const workspace = connect()
  const projectId = await resolveOption(workspace, KINDS.project, project)
  const body = {
    url: await readUrl(url),
    format: isText ? ('text' as const) : ('standard' as const),
    batch,
    ...given({ types: types === undefined ? undefined : typesOf(types), projectId, note }),
  }
  const endpoint = await workspace.eventEndpoints.create(body)
  if (!json) {
    const secret = endpoint.secret === null ? '' : ' Its secret is shown only now:'
    console.error(`Created ${printable(endpoint.id)}.${secret}`)
    if (endpoint.secret === null) return
  }
  print({ json }, endpoint, endpoint.secret ?? '')
})

const update = withJson(
  describe('update', 'Changes an event endpoint. With --enable, a disabled one continues where it stopped.', [
    `events endpoints update ${ID} --types all --note 'For the cache'`,
    `events endpoints update ${ID} --enable`,
  ])
    .argument(...ENDPOINT)
    .option('--url <url>', URL_ARGUMENT)
    .option('--types <list>', 'only events of these types, separated by commas; "all" for all')
    .option('--project <project>', 'only events of this project; "all" for all')
    .option('--note <text>', 'what it is for')
    .option('--batch', 'send several events in a message')
    .option('--no-batch', 'send each event in a message of its own')
    .addOption(new Option('--enable', 'enable it, and try again at once if it is failing').conflicts('disable'))
    .option('--disable', 'disable it'),
).action(async (text, { url, types, project, note, batch, enable, disable, json }) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.eventEndpoint, text)
  const projectId = project === 'all' ? null : await resolveOption(workspace, KINDS.project, project)
  const body = given({
    url: url === undefined ? undefined : await readUrl(url),
    types: types === undefined ? undefined : typesOf(types),
    projectId,
    note,
    batch,
    enabled: enable ? true : disable ? false : undefined,
  })
  const endpoint = await workspace.eventEndpoints.update(id, body)
  print({ json }, endpoint, `Updated ${id}.`)
})

const rotate = withOverlap(
  describe('rotate', 'Creates a new secret and prints it. Messages are signed with both until the old one expires.', [
    `events endpoints rotate ${ID}`,
    `events endpoints rotate ${ID} --overlap 0`,
  ]).argument(...ENDPOINT),
).action(async (text, { overlap, json }) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.eventEndpoint, text)
  const endpoint = await workspace.eventEndpoints.rotate(id, given({ overlapSeconds: overlap }))
  if (!json) console.error('The new secret is shown only now:')
  print({ json }, endpoint, endpoint.secret ?? '')
})

const test = withJson(
  describe('test', 'Sends one event to the endpoint and shows the response. Fails if it is not accepted.', [
    `events endpoints test ${ID}`,
  ]).argument(...ENDPOINT),
).action(async (text, { json }) => {
  const workspace = connect()
  const attempt = await workspace.eventEndpoints.test(await resolve(workspace, KINDS.eventEndpoint, text))
  if (attempt.error !== null) process.exitCode = 1
  print({ json }, attempt, attemptText(attempt))
})

const rewind = withJson(
  describe('rewind', 'Moves the endpoint to a place in the events. Those after it are sent again.', [
    `events endpoints rewind ${ID} --after 0hjv8mo2h8g`,
    `events endpoints rewind ${ID} --after now`,
  ])
    .argument(...ENDPOINT)
    .requiredOption('--after <cursor>', 'a cursor of events; now leaves out what is not delivered'),
).action(async (text, { after, json }) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.eventEndpoint, text)
  const endpoint = await workspace.eventEndpoints.rewind(id, { after })
  print({ json }, endpoint, `Moved ${id} to ${endpoint.cursor}. It has ${endpoint.behind} events to deliver.`)
})

const remove = withJson(
  describe('delete', 'Deletes an event endpoint and its secret.', [`events endpoints delete ${ID}`]).argument(
    ...ENDPOINT,
  ),
).action(async (text, { json }) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.eventEndpoint, text)
  print({ json }, await workspace.eventEndpoints.delete(id), `Deleted ${id}.`)
})

export const eventEndpoints = group(
  'endpoints',
  'Manages event endpoints: where the events are sent.',
  ['events endpoints create https://hooks.example.com/events', 'events endpoints list'],
  [list, create, update, rotate, test, rewind, remove],
)
