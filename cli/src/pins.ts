/** `workspace pins`: what the user of the API key pinned. */
import { Option } from '@commander-js/extra-typings'
import type { Workspace } from '../../client/src/index.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { describe, group, withJson, withLimit } from './command.ts'
import { print, printList } from './output.ts'
import { find, KINDS, resolve } from './resolve.ts'
import { connect } from './service.ts'
import { time } from './times.ts'

const ID = '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900'
/** By what people write. */
const TYPES = { session: KINDS.session, 'pull-request': KINDS.pullRequest, project: KINDS.project }
const API_TYPES = { session: 'session', 'pull-request': 'pull_request', project: 'project' } as const
type Type = keyof typeof TYPES
type Pin = Awaited<ReturnType<typeof pinsOf>>[number]

const RESOURCE = 'its type (session, pull-request or project), a slash, and its ID or name'
const PIN = 'the pin: the ID of what is pinned, its first characters, or its name; a type and a slash may precede it'

const list = withLimit(
  describe('list', 'Lists the pins of the user, in their order.', ['pins list', 'pins list --json']),
).action(async (output) => {
  await printList(output, await pinsOf(connect()), {
    ID: ({ id }) => id,
    TYPE: ({ type }) => type,
    NAME: ({ name }) => name,
    PINNED: ({ createdAt }) => time(createdAt),
  })
})

const add = withJson(
  describe('add', 'Pins a session, a pull request, or a project whose ID is a UUID.', [
    `pins add session/${ID}`,
    'pins add "pull-request/Accept Apple Pay"',
  ]).argument('<resource>', RESOURCE),
).action(async (text, output) => {
  const { type, rest } = parseResource(text)
  if (type === undefined) throw new UsageError(`The resource has no type; got "${text}"; allowed: ${RESOURCE}.`)
  const workspace = connect()
  const id = await resolve(workspace, TYPES[type], rest)
  const pin = await workspace.pins.put(API_TYPES[type], id)
  print(output, pin, `Pinned ${pin.name}.`)
})

const move = withJson(
  describe('move', 'Moves a pin before or after another one.', [
    'pins move "Accept Apple Pay" --before "Rebuild the checkout"',
    'pins move 0198c2a4-6b0f --after project/Payments',
  ])
    .argument('<pin>', PIN)
    .addOption(new Option('--before <pin>', 'the pin that follows it').conflicts('after'))
    .option('--after <pin>', 'the pin that it follows'),
).action(async (text, { before, after, ...output }) => {
  const target = before ?? after
  if (target === undefined) throw new UsageError('--before or --after is missing.')
  const workspace = connect()
  const pins = await pinsOf(workspace)
  const pin = await findPin(workspace, pins, text)
  const other = await findPin(workspace, pins, target)
  const position = before === undefined ? ('after' as const) : ('before' as const)
  const placement = { target: { type: other.resourceType, id: other.id }, position }
  const result = await workspace.pins.update(pin.resourceType, pin.id, { placement })
  print(
    output,
    result,
    result.updated ? `Moved ${pin.name} ${position} ${other.name}.` : `${pin.name} is there already.`,
  )
})

const remove = withJson(
  describe('remove', 'Removes pins. What was pinned stays.', ['pins remove "Accept Apple Pay"']).argument(
    '<pins...>',
    PIN,
  ),
).action(async (texts, output) => {
  const workspace = connect()
  const all = await pinsOf(workspace)
  const removed: Pin[] = []
  for (const text of texts) removed.push(await findPin(workspace, all, text))
  for (const { resourceType, id, name } of removed) {
    print(output, await workspace.pins.delete(resourceType, id), `Unpinned ${name}.`)
  }
})

async function pinsOf(workspace: Workspace) {
  const { items } = await workspace.pins.list().page()
  return items.map((pin) => ({ ...pin, id: pin.resourceId, type: pin.resourceType.replace('_', '-') }))
}

function findPin(workspace: Workspace, pins: readonly Pin[], text: string): Promise<Pin> {
  const { type, rest } = parseResource(text)
  const ofType = pins.filter((pin) => type === undefined || pin.type === type)
  return find(workspace, { noun: 'pin', list: async () => ofType }, rest)
}

function parseResource(text: string): { type: Type | undefined; rest: string } {
  const [, type, rest = text] = /^(session|pull[-_]request|project)\/(.+)$/s.exec(text) ?? []
  return { type: type?.replace('_', '-') as Type | undefined, rest }
}

export const pins = group(
  'pins',
  'Lists, adds, moves and removes the pins of the user that the API key acts as.',
  ['pins list', 'pins add "session/Rebuild the checkout"'],
  [list, add, move, remove],
)
