/** Keeps what is shown up to date: events say what has changed. */
import { useEffect } from 'react'
import { pause } from '../../../client/src/retrying.ts'
import { refresh, useCan, workspace } from './api.ts'
import { noteFeed, queryClient } from './connection.ts'

/** What an event of a resource makes stale, by the first part of the keys of queries. */
export const STALE: Readonly<Record<string, readonly string[]>> = {
  agent: ['agents', 'schedules', 'runs'],
  'api-key': ['api-keys', 'me'],
  'event-endpoint': ['event-endpoints'],
  'environment-variable': ['variables'],
  'environment-variables': ['variables'],
  identity: ['identities', 'api-keys', 'me'],
  invitation: ['invitations', 'identities'],
  pin: ['pins'],
  'profile-picture': ['pictures'],
  project: ['projects', 'schedules', 'sessions', 'pins', 'runs', 'variables'],
  'pull-request': ['pins'],
  run: ['runs', 'schedules'],
  'run-endpoint': ['run-endpoint'],
  schedule: ['schedules', 'runs'],
  session: ['sessions', 'pins', 'files'],
  'session-file': ['files'],
  'sign-in-rule': ['sign-in-rules', 'identities'],
  skill: ['skills'],
  'skill-feed': ['skill-feeds'],
  user: ['users', 'pictures', 'me', 'identities'],
}

/** Events that change what can be restored. */
const OF_DELETIONS = /\.(?:deleted|restored|purged)$/

const RESTART_MS = 60_000
/** What the events of so long make stale is read again once. A page of the feed has up to a hundred events. */
const COLLECT_MS = 250

/** The cursor of the last event that the pages know; undefined before the first page is shown. */
let after: string | undefined

/** Begins before a page reads anything, so that no change comes in between. Without the permission, nothing is live. */
export async function beginFeed(): Promise<void> {
  after ??= await workspace.events
    .list({ after: 'now', limit: 1 })
    .page()
    .then(
      ({ nextCursor }) => nextCursor,
      () => undefined,
    )
}

/** Follows the events while the page is visible. What happened meanwhile is read when it is visible again. */
export function useLiveUpdates(): void {
  const isAllowed = useCan()('audit-events:read')
  useEffect(() => {
    if (!isAllowed) return
    let following = new AbortController()
    const onChange = () => {
      following.abort()
      if (document.visibilityState === 'hidden') return
      following = new AbortController()
      void follow(following.signal)
    }
    onChange()
    document.addEventListener('visibilitychange', onChange)
    window.addEventListener('online', onChange)
    return () => {
      document.removeEventListener('visibilitychange', onChange)
      window.removeEventListener('online', onChange)
      following.abort()
    }
  }, [isAllowed])
}

const MAX_WAIT_MS = 10_000

/** The failure of the last request of the feed. */
let failure: Error | undefined

function onFailure(error: Error): void {
  failure = error
}

/** At the end of the feed, and for a short time after a failure: people look at the page. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  noteFeed(failure)
  failure = undefined
  return pause(Math.min(ms, MAX_WAIT_MS), signal)
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const feed = workspace.events.follow({ after: after ?? 'now', signal, onFailure, wait })
    try {
      for await (const { type, resource } of feed) {
        after = feed.cursor
        refreshSoon('events', ...(STALE[resource.type] ?? []), ...(OF_DELETIONS.test(type) ? ['deletions'] : []))
      }
      after = feed.cursor
    } catch {
      // The session has ended, or the cursor is too old: everything is read again.
      after = undefined
      void queryClient.invalidateQueries()
      await new Promise((resolve) => setTimeout(resolve, RESTART_MS))
    }
  }
}

const stale = new Set<string>()

function refreshSoon(...resources: readonly string[]): void {
  if (stale.size === 0) {
    setTimeout(() => {
      void refresh(...stale)
      stale.clear()
    }, COLLECT_MS)
  }
  for (const resource of resources) stale.add(resource)
}
