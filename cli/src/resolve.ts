/** Names and prefixes of IDs, in the place of IDs. */
import { type Workspace, WorkspaceError } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { isUuid } from '../../src/contracts.ts'

const [FORBIDDEN, NOT_FOUND] = [403, 404]
const MISSING_SCOPE = 'missing_scope'
/** Shorter ones would match by accident. */
const MIN_PREFIX_LENGTH = 4
const MAX_CANDIDATES = 5
const LATEST_RUNS = 1000

interface Identified {
  readonly id: string
}

interface Named extends Identified {
  readonly name: string | null
  /** Shown instead of the name, where names are not enough to tell things apart. */
  readonly label?: string
}

interface Kind<Item extends Named> {
  readonly noun: string
  /** @param options `query` leaves out other names, where the list can be searched. */
  list(
    workspace: Workspace,
    options: { readonly query?: string },
  ): AsyncIterable<Item> | Promise<AsyncIterable<Item> | readonly Item[]>
  /** Retrieves one, for kinds whose IDs may be any text. */
  retrieve?(workspace: Workspace, id: string): Promise<unknown>
  /** False: an ID is given whole. */
  readonly hasPrefixes?: false
}

const PAGE = { limit: 1000 }

/** What has no name is found by its ID. */
async function* nameless(items: AsyncIterable<Identified> | readonly Identified[]): AsyncIterable<Named> {
  for await (const { id } of items) yield { id, name: null }
}

export const KINDS = {
  project: {
    noun: 'project',
    list: ({ projects }, options) => projects.list({ ...PAGE, ...options }),
    retrieve: ({ projects }, id) => projects.retrieve(id),
  },
  user: {
    noun: 'user',
    list: ({ users }, options) => users.list({ ...PAGE, ...options }),
    retrieve: ({ users }, id) => users.retrieve(id),
  },
  agent: { noun: 'agent', list: ({ agents }, options) => agents.list({ ...PAGE, ...options }) },
  session: { noun: 'session', list: ({ sessions }, options) => sessions.list({ ...PAGE, ...options }) },
  pullRequest: {
    noun: 'pull request',
    list: ({ pullRequests }, options) => pullRequests.list({ ...PAGE, ...options }),
  },
  schedule: {
    noun: 'schedule',
    list: ({ schedules }, options) => schedules.list({ ...PAGE, ...options }),
  },
  apiKey: { noun: 'API key', list: ({ apiKeys }) => apiKeys.list(PAGE) },
  app: { noun: 'connected app', list: ({ apiKeys }) => apiKeys.list({ ...PAGE, kind: 'grant' }) },
  signInRule: { noun: 'sign-in rule', list: ({ signInRules }) => nameless(signInRules.list()) },
  invitation: {
    noun: 'open invitation',
    list: async ({ invitations }) => {
      const { items } = await invitations.list().page()
      return items.filter(({ acceptedAt }) => acceptedAt === null).map((each) => ({ ...each, name: each.email }))
    },
  },
  skill: { noun: 'skill', list: ({ skills }, options) => skills.list({ ...PAGE, ...options }) },
  skillFeed: { noun: 'feed', list: ({ skillFeeds }) => skillFeeds.list(PAGE) },
  eventEndpoint: { noun: 'event endpoint', list: ({ eventEndpoints }) => nameless(eventEndpoints.list()) },
  run: {
    noun: 'run',
    list: async ({ runs }) => nameless((await runs.list({ limit: LATEST_RUNS }).page()).items),
  },
} satisfies Record<string, Kind<Named>>

/**
 * The ID that people mean by an ID, the first characters of a UUID, or a name. A UUID is taken as it is, without a request.
 * @throws if there is no such thing, or if there are several. The ID of something deleted names nothing else.
 */
export async function resolve(workspace: Workspace, kind: Kind<Named>, text: string): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  if (text === '' || text === '.' || text === '..') throw new UsageError(`"${text}" is not an ID or a name.`)
  try {
    if (kind.retrieve && (await exists(kind.retrieve(workspace, text)))) return text
    return (await find(workspace, kind, text)).id
  } catch (error) {
    // An API key may be allowed to work on a thing and not to read it. The operation itself says what is wrong.
    if (error instanceof WorkspaceError && (error.status === FORBIDDEN || error.code === MISSING_SCOPE)) return text
    throw error
  }
}

/** The same for an option, which may be left out. */
export async function resolveOption(
  workspace: Workspace,
  kind: Kind<Named>,
  text: string | undefined,
): Promise<string | undefined> {
  return text === undefined ? undefined : resolve(workspace, kind, text)
}

async function exists(retrieved: Promise<unknown>): Promise<boolean> {
  try {
    await retrieved
    return true
  } catch (error) {
    if (error instanceof WorkspaceError && error.status === NOT_FOUND) return false
    throw error
  }
}

/** Searches names, and then the first characters of UUIDs. @throws if not exactly one matches. */
export async function find<Item extends Named>(workspace: Workspace, kind: Kind<Item>, text: string): Promise<Item> {
  const wanted = text.toLowerCase()
  const similar: Item[] = []
  const named: Item[] = []
  for await (const item of await kind.list(workspace, { query: text })) {
    const name = item.name?.toLowerCase() ?? ''
    if (name === wanted) named.push(item)
    else if (name.includes(wanted)) similar.push(item)
  }
  if (named.length > 0) return only(named, `${kind.noun}s have the name "${text}"`, 'Use the ID.')
  const found: Item[] = []
  // "shop" is not the beginning of "shop-old", because the platform chose that ID.
  const mayBePrefix = text.length >= MIN_PREFIX_LENGTH && /^[0-9a-f-]+$/i.test(text)
  if (mayBePrefix && kind.hasPrefixes !== false) {
    for await (const item of await kind.list(workspace, {})) {
      if (isUuid(item.id) && item.id.startsWith(wanted)) found.push(item)
    }
  }
  if (found.length > 0) return only(found, `${kind.noun}s have an ID that begins with "${text}"`, 'Use more of the ID.')
  const hint = similar.length > 0 ? ` Similar: ${candidates(similar)}.` : ''
  throw new Error(printable(`There is no ${kind.noun} with the ID or the name "${text}".${hint}`))
}

function only<Item extends Named>(items: readonly Item[], description: string, hint: string): Item {
  const [item, ...others] = items
  if (item && others.length === 0) return item
  throw new Error(printable(`${items.length} ${description}: ${candidates(items)}. ${hint}`))
}

function candidates(items: readonly Named[]): string {
  const shown = items.slice(0, MAX_CANDIDATES).map(({ id, name, label = name }) => (label ? `${label} (${id})` : id))
  return items.length > MAX_CANDIDATES ? `${shown.join(', ')} and others` : shown.join(', ')
}

export const SCHEDULE = 'the ID of the schedule, its first characters, or its name'
export const PROJECT = [
  '--project <project>',
  'the project that it belongs to; needed with a restricted API key',
] as const
export const AGENT = ['--agent <agent>', 'the agent that it belongs to'] as const

export interface Parent {
  readonly project?: string | undefined
  readonly agent?: string | undefined
}

/**
 * With a parent, a UUID is taken as it is. Without one, the schedules of the organization say which parent it has.
 * @returns the methods of the client, and the IDs that they take.
 */
export async function scheduleOf(workspace: Workspace, text: string, { project, agent }: Parent) {
  if (project === undefined && agent === undefined) {
    const { id, projectId, agentId } = await find(workspace, KINDS.schedule, text)
    const parentId = projectId ?? agentId ?? ''
    return { schedules: methodsOf(workspace, projectId !== null), parentId, id }
  }
  const kind = project === undefined ? KINDS.agent : KINDS.project
  const parentId = await resolve(workspace, kind, project ?? agent ?? '')
  const schedules = methodsOf(workspace, project !== undefined)
  if (isUuid(text)) return { schedules, parentId, id: text }
  const { id } = await find<Named>(workspace, { noun: 'schedule', list: () => schedules.list(parentId, PAGE) }, text)
  return { schedules, parentId, id }
}

/** The methods of the schedules of projects, or of agents. */
export function methodsOf({ projects, agents }: Workspace, isOfProject: boolean) {
  return isOfProject ? projects.schedules : agents.schedules
}
