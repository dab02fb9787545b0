/** What a connected app may do: the OAuth scopes, each of which is a set of scopes of API keys (docs/mcp.md). */
import type { Scope } from './scopes.ts'

export const BUNDLES = {
  skills: ['skills:read'],
  files: ['session-files:read', 'session-files:write', 'sessions:read', 'projects:read'],
  schedules: ['schedules:read', 'schedules:write', 'projects:read', 'agents:read'],
  runs: ['runs:read', 'runs:write', 'projects:read', 'agents:read'],
  pins: ['pins:read', 'pins:write', 'projects:read', 'sessions:read', 'pull-requests:read'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>

export type Bundle = keyof typeof BUNDLES
export const BUNDLE_NAMES = Object.keys(BUNDLES) as readonly Bundle[]

export const MAX_GRANT_DAYS = 90

export const isBundle = (name: string): name is Bundle => Object.hasOwn(BUNDLES, name)

export function scopesOfBundles(bundles: readonly Bundle[]): Scope[] {
  return [...new Set<Scope>(bundles.flatMap((bundle) => BUNDLES[bundle]))]
}

/** @returns the first bundle that has the scope; undefined if no app can have it. */
export function bundleWith(scope: string): Bundle | undefined {
  return BUNDLE_NAMES.find((name) => hasScope(name, scope))
}

/** @returns the bundles of which a key has a scope that no other bundle has. */
export function bundlesIn(scopes: readonly string[]): Bundle[] {
  const isOwn = (scope: string) => BUNDLE_NAMES.filter((name) => hasScope(name, scope)).length === 1
  return BUNDLE_NAMES.filter((name) => scopes.some((scope) => hasScope(name, scope) && isOwn(scope)))
}

const hasScope = (name: Bundle, scope: string): boolean => (BUNDLES[name] as readonly string[]).includes(scope)
