/** Events in words. */
import { defaultStringifySearch as stringifySearch } from '@tanstack/react-router'
import { PREDICATES } from '../../../../src/contracts.ts'
import { DELETED_KINDS } from '../deleted/kinds.ts'
import type { Event } from '../events.ts'
import { visible } from '../visible.ts'

/** What the actor did, before and after the name of the resource. */
export function predicateOf(type: Event['type']): readonly [before: string, after?: string] {
  // A later version of the service may have more types.
  const [before = type, after] = (PREDICATES[type] ?? `${type} {name}`).split('{name}')
  return after === undefined ? [before] : [before, after]
}

/** What the resource is called. @param users the names of users. */
export function nameOf({ resource }: Event, users: ReadonlyMap<string, string>): string {
  const { type, id, path, name } = resource
  if (name !== null) return name
  if (type === 'profile-picture') return users.get(id) ?? id
  // A pin has no name, but its path says what is pinned.
  if (type === 'pin') return `a ${path.split('/')[3]?.replace('_', ' ')}`
  return id
}

/** The address of what an event is about, if there is such a page. */
export function addressOf({ type, resource, projectId, createdAt }: Event): string | undefined {
  const kind = DELETED_KINDS.find((each) => type === `${each.replace('_', '-')}.deleted`)
  if (kind !== undefined) {
    // Where it can be restored.
    const filters = {
      kind,
      ...(projectId !== null && { project: projectId }),
      ...(resource.name && { q: visible(resource.name) }),
    }
    return `/deleted${stringifySearch(filters)}`
  }
  if (/\.(?:deleted|revoked|session-ended|app-disconnected)$/.test(type)) return undefined
  if (resource.type.startsWith('environment-variable')) return `/variables${stringifySearch({ project: projectId })}`
  // What the version of this time changed.
  if (type === 'skill.updated') return `/skills/${resource.id}?at=${createdAt}`
  return resource.path
    .replace(/^\/v1/, '')
    .replace(/^\/skill-feeds\/.*/, '/skills/feeds')
    .replace(/^\/pins\/session\//, '/sessions/')
    .replace(/^\/pins\/project\//, '/people/projects/')
    .replace(/^\/(users|agents|projects)\/([^/]+)(?:\/profile-picture)?$/, '/people/$1/$2')
    .replace(/^\/identities\//, '/people/identities/')
    .replace(/^\/(?:sign-in-rules|invitations)\/.*/, '/people/sign-in')
    .replace(/^\/api-keys\//, '/keys/')
    .replace(/^\/event-endpoints\//, '/endpoints/')
    .replace(/^\/run-endpoint$/, '/endpoints')
    .replace(/^(\/sessions\/[^/]+)\/files\//, '$1?file=')
}

const VERBS = Map.groupBy(Object.keys(PREDICATES), (type) => type.slice(0, type.indexOf('.')))

/** The resources that have events, with their names. */
export const RESOURCES = Array.from(VERBS.keys(), (resource) => [resource, toWords(resource)] as const)

/** The types of a resource, with their verbs. */
export const typesOf = (resource: string) =>
  (VERBS.get(resource) ?? []).map((type) => [type, toWords(type.slice(type.indexOf('.') + 1))] as const)

/** Such as "API key" of "api-key". */
function toWords(name: string): string {
  // Otherwise only an "s" would tell it from a variable.
  if (name === 'environment-variables') return 'Lease of environment variables'
  return name
    .replaceAll('-', ' ')
    .replace(/^api\b/, 'API')
    .replace(/^./, (letter) => letter.toUpperCase())
}
