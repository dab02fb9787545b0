/** What API keys are for, as lists of scopes to begin from. */
import { BUNDLES, type Bundle, bundlesIn, type Scope, scopesOfBundles } from '../../../../src/contracts.ts'

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

/** What the scopes of a bundle are mainly about. */
const RESOURCE: Readonly<Record<Bundle, string>> = {
  skills: 'skills',
  files: 'session-files',
  schedules: 'schedules',
  runs: 'runs',
  pins: 'pins',
}

/** @param isReading true if nothing of it may be changed. */
const BUNDLE_WORDS: Readonly<Record<Bundle, (isReading: boolean) => string>> = {
  skills: () => 'Read skills',
  files: (isReading) => (isReading ? 'Read session files' : 'Read and write session files'),
  schedules: (isReading) => (isReading ? 'See schedules' : 'Create and change schedules'),
  runs: (isReading) => (isReading ? 'See runs' : 'Take and complete runs'),
  pins: (isReading) => (isReading ? 'See your pins' : 'Change your pins'),
}

/** What an app may do with a bundle, as far as these scopes go. */
export const wordsOfBundle = (bundle: Bundle, scopes: readonly string[]) =>
  BUNDLE_WORDS[bundle](!scopes.includes(`${RESOURCE[bundle]}:write`))

/** Whether these scopes have something of the bundle, and not only what it needs of others. */
export const hasBundle = (bundle: Bundle, scopes: readonly string[]) =>
  BUNDLES[bundle].some((scope) => scopes.includes(scope) && scope.startsWith(`${RESOURCE[bundle]}:`))

/**
 * What a connected app may do, in the words in which its person allowed it; undefined if it was not allowed in bundles,
 * such as the command `workspace`.
 */
export function permissionsOfApp(scopes: readonly string[]): readonly string[] | undefined {
  const bundles = bundlesIn(scopes)
  const known: readonly string[] = scopesOfBundles(bundles)
  if (!scopes.every((scope) => known.includes(scope))) return undefined
  return bundles.map((bundle) => wordsOfBundle(bundle, scopes))
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
