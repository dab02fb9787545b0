/** What API keys are for, as lists of scopes to begin from. */
import type { Scope } from '../../../../src/contracts.ts'

export interface Purpose {
  readonly name: string
  readonly scopes: readonly string[]
  /** A key for this should not reach every project. */
  readonly isForProjects?: true
}

const RUN_WORKER: readonly Scope[] = [
  'runs:read',
  'runs:write',
  'schedules:read',
  'sessions:read',
  'sessions:write',
  'session-files:read',
  'session-files:write',
  'skills:read',
]
const AGENT: readonly Scope[] = [
  'projects:read',
  'sessions:read',
  'sessions:write',
  'session-files:read',
  'session-files:write',
  'pull-requests:read',
  'pull-requests:write',
  'skills:read',
]
const SKILLS: readonly Scope[] = ['skills:read', 'skills:write']
const LEASE: readonly Scope[] = ['environment-variables:lease']

/** @param own the scopes of the session. @param grantable what it may give: a purpose that needs others is left out. */
export function purposesFor(own: readonly string[], grantable = own): readonly Purpose[] {
  const reading = own.filter((scope) => scope.endsWith(':read'))
  const all: readonly Purpose[] = [
    { name: 'Read everything', scopes: reading },
    { name: 'Agent in one project', scopes: AGENT, isForProjects: true },
    { name: 'Run worker', scopes: RUN_WORKER },
    { name: 'Deploy skills', scopes: SKILLS },
    { name: 'Lease the environment variables of a project', scopes: LEASE, isForProjects: true },
    { name: 'All that you may do', scopes: own },
    { name: 'Something else', scopes: [] },
  ]
  return all.filter(({ name, scopes }) => {
    const isOffered = scopes.length > 0 || name === 'Something else'
    return isOffered && scopes.every((scope) => grantable.includes(scope))
  })
}

/** Such as "Session files" with "read" and "write", in the order of the alphabet. */
export function groupsOf(
  scopes: readonly string[],
): readonly (readonly [resource: string, scopes: readonly string[]])[] {
  const groups = Map.groupBy([...scopes].sort(), (scope) => toWords(scope.slice(0, scope.indexOf(':'))))
  return Array.from(groups)
}

export const verbOf = (scope: string) => scope.slice(scope.indexOf(':') + 1)

function toWords(name: string): string {
  return name
    .replaceAll('-', ' ')
    .replace(/^api\b/, 'API')
    .replace(/^./, (letter) => letter.toUpperCase())
}

/** What a key may do, in a few words. @param own the scopes of the session. */
export function summaryOf(scopes: readonly string[], own: readonly string[]): string {
  if (scopes.length === 0) return 'nothing'
  const purpose = purposesFor(own).find((each) => isSame(each.scopes, scopes))
  if (purpose) return purpose.name === 'All that you may do' ? 'all that you may do' : purpose.name.toLowerCase()
  const [only] = groupsOf(scopes)
  if (scopes.length === 1 && only) return `${only[0].toLowerCase()}: ${only[1].map(verbOf).join()}`
  const isReading = scopes.every((scope) => scope.endsWith(':read'))
  return `${scopes.length} permissions${isReading ? ' to read' : ''}`
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((scope) => other.includes(scope))
