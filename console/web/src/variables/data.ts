/** What the pages ask the API about environment variables. It never returns a value. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../../client/src/api.ts'
import { workspace } from '../api.ts'
import { type Event, latestEvents } from '../events.ts'
import { listQuery } from '../lists.ts'

export type Variable = components['schemas']['EnvironmentVariable']

const PAGE = 1000

/** All variables of a project, by name: the service limits how many there are. */
export const variablesQuery = (projectId: string) =>
  listQuery(['variables', 'list', projectId], async () => {
    const variables: Variable[] = []
    for await (const variable of workspace.projects.environmentVariables.list(projectId, { limit: PAGE })) {
      variables.push(variable)
    }
    return variables
  })

/** What is known of the past of a variable. */
export interface Past {
  /** The event that gave it its value. */
  readonly set?: Event
  readonly leased?: Lease
}

export interface Lease {
  readonly event: Event
  /** False if the event names only the first of the leased variables, and this one may be among the others. */
  readonly isCertain: boolean
}

/** Who has set and leased variables last, by the names of those of which an event is known. */
export const pastQuery = (projectId: string, variables: readonly Variable[]) =>
  queryOptions({
    queryKey: ['variables', 'past', projectId, variables],
    queryFn: async () => {
      const [since = ''] = variables.map(({ createdAt }) => createdAt).sort()
      const types = 'environment-variable.set,environment-variables.*'
      let pasts: ReadonlyMap<string, Past> = new Map()
      await latestEvents({ types, projectId, since }, (events) => {
        pasts = pastsOf(variables, events)
        return variables.every(({ key }) => pasts.get(key)?.set && pasts.get(key)?.leased?.isCertain)
      })
      return pasts
    },
    placeholderData: (previous) => previous,
  })

/** @param events of a project, the latest first. */
function pastsOf(variables: readonly Variable[], events: readonly Event[]): ReadonlyMap<string, Past> {
  const named = events.map((event) => [event, namesOf(event.resource.name ?? '')] as const)
  const isLease = ([{ type }]: (typeof named)[number]) => type === 'environment-variables.leased'
  const leases = named.filter(isLease)
  const settings = named.filter((each) => !isLease(each))
  return new Map(
    variables.map(({ key, createdAt, updatedAt }) => {
      // Where the names are not known, the time is that of the last change.
      const [set] = settings.find(([event, has]) => has(key) ?? event.createdAt === updatedAt) ?? []
      // A deleted variable may have had the same name.
      const found = leases.find(([event, has]) => event.createdAt >= createdAt && has(key) !== false)
      const leased = found && { event: found[0], isCertain: found[1](key) === true }
      return [key, { ...(set && { set }), ...(leased && { leased }) }]
    }),
  )
}

/** Whether an event names a variable. Undefined: not known. */
type HasName = (key: string) => boolean | undefined

/** @param list names in order; only its first 1,000 characters, if it ends in "…". */
function namesOf(list: string): HasName {
  const isCut = list.endsWith('…')
  const names = list.replace(/…$/, '').split(/, ?/)
  // Perhaps only the beginning of a name.
  const rest = isCut ? (names.pop() ?? '') : undefined
  const last = names.at(-1) ?? ''
  const all = new Set(names)
  return (key) => all.has(key) || (rest !== undefined && key > last && key >= rest ? undefined : false)
}
