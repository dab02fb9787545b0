/** What the shared suites know of an operation: a request that succeeds, and what can stand in its way. */
import { v7 as newUuid } from 'uuid'
import type { EventType } from '../../src/access/event-types.ts'
import type { Scope } from '../../src/access/scopes.ts'
import type { Contract } from '../../src/http/contract.ts'
import type { RequestOptions } from './api.ts'
import { type KeyOptions, now, type Workspace } from './workspace.ts'

/** A request, apart from its key. */
export interface Example extends Omit<RequestOptions, 'key'> {
  /** From `/v1/…`, with the query. */
  readonly path: string
  /** The ids in path, query and body of what has to exist in the caller's organization. */
  readonly ids: readonly string[]
  /** The projects that the key has to reach, if it is limited: of each of the ids in turn, where they differ. */
  readonly projectIds?: readonly string[]
  /** What a key has to be like that succeeds, if it isn't one of every scope that acts as the workspace's user. */
  readonly keyOptions?: KeyOptions
}

/** An event that the request of an example records. */
export interface ExampleEvent {
  readonly type: EventType
  /** The path of the resource. */
  readonly path: string
  /** The ID of the resource, if it isn't the last segment of the path. */
  readonly id?: string
  readonly name?: string
  readonly projectId?: string
  /** True if the service did it because of the request: the event has no actor. */
  readonly isByService?: true
}

interface Made {
  /** The ID of what the request created. */
  readonly created: string
  /** The ID of the API key that it had. */
  readonly keyId: string
}

/** @returns the events that the request records, in order. */
export type EventsOf = (example: Example, made: Made) => readonly ExampleEvent[]

/** Another state of the workspace, or another request. Those of an operation combine, in the order of the table. */
export interface Variation {
  /** The answer then, if it isn't the success. */
  readonly status?: 206 | 304 | 400 | 403 | 404 | 409 | 410 | 412 | 416
  /** The status comes only together with this other variation. */
  readonly needs?: string
  /** True if what a PUT of the example creates exists already: the success is 200. */
  readonly exists?: true
  /** The refusals of this status hold no longer. */
  readonly lifts?: 409
  /** True if there may be nothing left to do or to find. */
  readonly idle?: true
  /** True if a key that is limited to projects gets 403. */
  readonly reachesAll?: true
  /** True if a key succeeds that is limited to other projects. */
  readonly isOfNoProject?: true
  /** True if the request is another one, to which the variations before it do nothing. */
  readonly replaces?: true
  /** True if a key that acts as a user gets 403. */
  readonly refusesUsers?: true
  /** The calls to the database, if they aren't as many as without the variation. */
  readonly calls?: number
  /** The events that are recorded then, if they aren't those of the example as it is. */
  readonly events?: EventsOf
  apply(workspace: Workspace, example: Example): Promise<Example>
}

/** The status of a success of the example with these variations. */
export function successOf({ success }: Contract, variations: readonly Variation[] = []): number {
  const creates = 'created' in success && !variations.some(({ exists }) => exists)
  return creates ? 201 : success.status
}

/** Variations of an operation that honours `If-Match`. */
export const ifMatchVariations: Row['variations'] = {
  'If-Match is any': { apply: async (_, example) => withHeader(example, 'If-Match', '*') },
  'If-Match has another ETag': {
    status: 412,
    apply: async (_, example) => withHeader(example, 'If-Match', '"another"'),
  },
}

/** Variations of a GET that honours `If-None-Match`. */
export const ifNoneMatchVariations: Row['variations'] = {
  'the ETag matches': {
    status: 304,
    apply: async (_, example) => withHeader(example, 'If-None-Match', '*'),
  },
}

export function withHeader(example: Example, name: string, value: string): Example {
  return { ...example, headers: { ...example.headers, [name]: value } }
}

/** The example with these query parameters, without those that are null. */
export function withQuery(example: Example, changes: Readonly<Record<string, string | null>>): Example {
  const [pathname = '', query] = example.path.split('?')
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes))
    value === null ? parameters.delete(name) : parameters.set(name, value)
  return { ...example, path: `${pathname}?${parameters}` }
}

export interface Row {
  prepare(workspace: Workspace): Promise<Example>
  /** What a key gets that is limited to other projects; without it, projects don't matter. */
  readonly outOfReach?: 403 | 404
  /** True if a key that is limited to projects gets `outOfReach`, whichever they are. */
  readonly reachesAll?: true
  /**
   * True if only a key that is limited to projects succeeds; others get 403. The example has the `keyOptions` of one.
   */
  readonly needsLimit?: true
  /** The scopes that a key needs besides that of the operation, because it gives them away, or is no session. */
  readonly furtherScopes?: readonly Scope[]
  /** True if the request names nothing that has to exist: in another organization it succeeds too. */
  readonly namesNothing?: true
  /** True if all that it names is the user that the key acts as, whatever the organization. */
  readonly isOfCaller?: true
  /** True if the first use of a key costs one look-up more: its organization has to be known before. */
  readonly looksUpFirst?: true
  /** True if it may find nothing to answer with, and succeed. */
  readonly idle?: true
  /** True if another user's key succeeds too, although the operation is a user's own. */
  readonly isForAnyUser?: true
  /** The events that it records, if it records any. */
  readonly events?: EventsOf
  /** The path parameters that may name something new. */
  readonly newNames?: readonly string[]
  /** The calls to the database that a success makes, where the object store stands between; else one. */
  readonly calls?: 2
  readonly variations: Readonly<Record<string, Variation>>
}

export type Rows = Readonly<Record<string, Row>>

/** No event, because nothing is left to change. */
export const noEvents: EventsOf = () => []

/** The path without the query. */
export function pathOf({ path }: Example): string {
  return path.replace(/\?.*/, '')
}

/** An event of the resource that the path of the request names, or that is created below it. */
export function eventOf(
  type: EventType,
  fields: Omit<ExampleEvent, 'type' | 'path'> & { readonly isNew?: true } = {},
): EventsOf {
  const { isNew, ...rest } = fields
  return (example, { created }) => [{ type, path: pathOf(example) + (isNew ? `/${created}` : ''), ...rest }]
}

/** The same with the first project of the example. */
export function projectEventOf(...parameters: Parameters<typeof eventOf>): EventsOf {
  return (example, made) =>
    eventOf(...parameters)(example, made).map((event) => ({ ...event, projectId: projectOf(example) }))
}

/** The first project that the example needs. */
export function projectOf({ projectIds: [projectId] = [] }: Example): string {
  if (projectId === undefined) throw new Error('The example has no project')
  return projectId
}

/** The first two ids. */
export function firstAndSecond({ ids: [first = '', second = ''] }: Example): [string, string] {
  return [first, second]
}

export function inAnHour(): string {
  return new Date(Date.parse(now()) + 3_600_000).toISOString()
}

/** The request with other ids: one for each of its own, or as many new ones, which nobody has. */
export function withIds(example: Example, ids: readonly string[] = example.ids.map(() => newUuid())): Example {
  const replace = (text: string) =>
    example.ids.reduce((result, id, index) => result.replaceAll(id, ids[index] ?? id), text)
  return {
    ...example,
    ids,
    path: replace(example.path),
    ...(example.json !== undefined && { json: JSON.parse(replace(JSON.stringify(example.json))) }),
  }
}
