/**
 * Whether the pages show what is true now. Reads that fail for a while are repeated until they succeed, so what a page
 * says about a failure comes from here, and goes by itself.
 */
import { onlineManager, type Query, QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { takeEarly } from './early.ts'
import { isUnreachable, WorkspaceError } from './errors.ts'

const MAX_PAUSE_MS = 10_000
/** After so long, a page says that it still waits. */
const SLOW_MS = 5000

/** True for a failure that may be over soon. */
export const mayPass = (error: unknown): error is Error =>
  isUnreachable(error) || (error instanceof WorkspaceError && (error.status >= 500 || error.status === 429))

/** How long to wait before the next attempt. */
export function pauseAfter(failures: number, error: unknown): number {
  const retryAfter = error instanceof WorkspaceError ? error.retryAfter : null
  return Math.max(Math.min(1000 * 2 ** failures, MAX_PAUSE_MS), (retryAfter ?? 0) * 1000)
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (_failures, error) => mayPass(error),
      retryDelay: pauseAfter,
      staleTime: 60_000,
      // Some systems say that they are offline, and reach this machine. The first attempt finds out.
      networkMode: 'offlineFirst',
      refetchOnReconnect: true,
    },
    // Without a network, a change fails at once. It must not be made later, when nobody expects it.
    mutations: { networkMode: 'always' },
  },
})

/** Since the browser said so, nothing was loaded. */
let wasOffline = false
onlineManager.subscribe((isOnline) => {
  wasOffline ||= !isOnline
})

/**
 * Loads a part of the console once. Chromium never loads a module again that it could not load, so without a network it
 * waits, and after another failure the page reloads itself (`reloadForParts`).
 */
export const loadPart = <Part>(load: () => Promise<Part>): Promise<Part> =>
  queryClient.fetchQuery({
    // Each has its own address in it.
    queryKey: ['part', String(load)],
    queryFn: async () => {
      // Browsers may say that there is a network again before there is one.
      if (wasOffline) await fetch('/', { method: 'HEAD' })
      wasOffline = false
      return await load()
    },
    networkMode: 'online',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })

export interface Trouble {
  readonly kind: 'offline' | 'failing' | 'slow'
  /** Why the last attempt failed. */
  readonly error: Error | null
  /** When what is shown was read; null if nothing of it is shown yet. */
  readonly staleSince: number | null
}

let trouble: Trouble | undefined
/** The feed of events fails: what others change is not shown. */
let feed: { readonly error: Error; readonly since: number } | undefined
let feedWorkedAt = Date.now()
const listeners = new Set<() => void>()
const began = new WeakMap<Query, number>()
/** While a dialog waits for the person to sign in, requests do not wait for the service. */
let isPersonAsked = false
let personAskedUntil = 0

/** Reads whose last attempt failed, by URL, until the next one: the client waits before it. */
const attempts = new Map<string, { readonly error: Error; readonly until: number }>()
const NEXT_ATTEMPT_MS = 15_000

/** `fetch` that notices at once what the client repeats. */
export async function observedFetch(request: Request): Promise<Response> {
  if (request.method !== 'GET') return fetch(request)
  const note = (error?: unknown) => {
    if (mayPass(error)) {
      attempts.set(request.url, { error, until: Date.now() + NEXT_ATTEMPT_MS })
      setTimeout(updateSoon, NEXT_ATTEMPT_MS)
    } else attempts.delete(request.url)
    updateSoon()
  }
  try {
    const response = await (takeEarly(request.url) ?? fetch(request))
    note(response.ok ? undefined : new WorkspaceError({ response }))
    return response
  } catch (error) {
    note(error)
    throw error
  }
}

export function notePersonAsked(isAsked: boolean): void {
  if (isPersonAsked && !isAsked) {
    personAskedUntil = Date.now()
    setTimeout(updateSoon, SLOW_MS)
  }
  isPersonAsked = isAsked
  updateSoon()
}

export function noteFeed(error: Error | undefined): void {
  if (error === undefined) feedWorkedAt = Date.now()
  const next = error && { error, since: feedWorkedAt }
  if (next === feed) return
  feed = next
  update()
}

function findTrouble(): Trouble | undefined {
  const waiting = queryClient.getQueryCache().getAll().filter(isAwaited)
  const failing = waiting.filter(({ state }) => state.fetchFailureCount > 0 || state.fetchStatus === 'paused')
  const times = failing.flatMap(({ state }) => (state.dataUpdatedAt > 0 ? [state.dataUpdatedAt] : []))
  if (feed) times.push(feed.since)
  const attempt = Array.from(attempts.values()).find(({ until }) => until > Date.now())
  const error =
    attempt?.error ??
    failing.findLast(({ state }) => state.fetchFailureReason)?.state.fetchFailureReason ??
    feed?.error ??
    null
  const staleSince = times.length > 0 ? Math.min(...times) : null
  if (attempt || failing.length > 0 || feed)
    return { kind: onlineManager.isOnline() ? 'failing' : 'offline', error, staleSince }
  const isSlow = [...waiting, ...queryClient.getMutationCache().getAll()].some(
    (each) => Date.now() - Math.max(beganAt(each), personAskedUntil) >= SLOW_MS,
  )
  return isSlow && !isPersonAsked ? { kind: 'slow', error: null, staleSince: null } : undefined
}

/** A page or the router waits for it. A refused request is not repeated, and says so in its place. */
const isAwaited = (query: Query) =>
  query.state.fetchStatus !== 'idle' && (query.isActive() || query.queryKey[0] === 'part' || query.queryKey[0] === 'me')

type Mutation = ReturnType<ReturnType<QueryClient['getMutationCache']>['getAll']>[number]

function beganAt(each: Query | Mutation): number {
  if ('mutationId' in each) return each.state.status === 'pending' ? each.state.submittedAt : Date.now()
  return began.get(each) ?? Date.now()
}

function update(): void {
  const next = findTrouble()
  if (JSON.stringify(next) === JSON.stringify(trouble) && next?.error === trouble?.error) return
  trouble = next
  for (const listener of listeners) listener()
}

let scheduled = false
/** Not while React draws, which may be what has begun a request. */
function updateSoon(): void {
  if (scheduled) return
  scheduled = true
  setTimeout(() => {
    scheduled = false
    update()
  })
}

queryClient.getQueryCache().subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'fetch') {
    began.set(event.query, Date.now())
    setTimeout(updateSoon, SLOW_MS)
  }
  updateSoon()
})
queryClient.getMutationCache().subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'pending') setTimeout(updateSoon, SLOW_MS)
  updateSoon()
})
onlineManager.subscribe(updateSoon)

/** What is wrong with the connection now. */
export function useTrouble(): Trouble | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => trouble,
  )
}
