/** Keeps what is shown up to date: events say what has changed. */
import { useEffect } from 'react'
import { queryClient, useCan, workspace } from './api.ts'

/** What an event of a resource makes stale, by the first part of the keys of queries. */
const STALE: Readonly<Record<string, readonly string[]>> = {
  agent: ['agents', 'schedules'],
  'api-key': ['api-keys', 'me'],
  pin: ['pins'],
  project: ['projects', 'schedules', 'sessions', 'pins'],
  'pull-request': ['pins'],
  run: ['runs', 'schedules'],
  schedule: ['schedules', 'runs'],
  session: ['sessions', 'pins'],
  'session-file': ['files'],
  user: ['users'],
}

/** Follows the events while the page is visible. What happened meanwhile is read when it is visible again. */
export function useLiveUpdates(): void {
  const isAllowed = useCan()('audit-events:read')
  useEffect(() => {
    if (!isAllowed) return
    let following = new AbortController()
    let after = 'now'
    const follow = async () => {
      following = new AbortController()
      const feed = workspace.events.follow({ after, signal: following.signal })
      try {
        for await (const { resource } of feed) {
          after = feed.cursor ?? after
          refresh(['events', ...(STALE[resource.type] ?? [])])
        }
        after = feed.cursor ?? after
      } catch {
        // The feed has ended: the session has, or the cursor is too old. Without a cursor, everything is read again.
        after = 'now'
        void queryClient.invalidateQueries()
      }
    }
    const onChange = () => {
      if (document.visibilityState === 'hidden') following.abort()
      else void follow()
    }
    onChange()
    document.addEventListener('visibilitychange', onChange)
    return () => {
      document.removeEventListener('visibilitychange', onChange)
      following.abort()
    }
  }, [isAllowed])
}

function refresh(resources: readonly string[]): void {
  for (const resource of new Set(resources)) void queryClient.invalidateQueries({ queryKey: [resource] })
}
