/** A time, relative to now; the exact one is its title. */
import { useSyncExternalStore } from 'react'
import { MINUTE_MS, toExact, toRelative } from '../time.ts'

const TICK_MS = MINUTE_MS / 4

const nowMs = () => Math.floor(Date.now() / TICK_MS) * TICK_MS

/** The time now, to a quarter of a minute, so that all times of a page agree. */
export function useNow(): Date {
  return new Date(useSyncExternalStore(subscribe, nowMs))
}

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One timer for all times of a page, so that React draws them together. */
function subscribe(onChange: () => void): () => void {
  listeners.add(onChange)
  timer ??= setInterval(() => {
    for (const listener of listeners) listener()
  }, TICK_MS)
  return () => {
    listeners.delete(onChange)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

export function Time({ at }: { readonly at: string }) {
  const time = new Date(at)
  // Drawn again only when the words change, because a page may have thousands of times.
  const relative = useSyncExternalStore(subscribe, () => toRelative(time, new Date(nowMs())))
  return (
    <time dateTime={at} title={toExact(time)}>
      {relative}
    </time>
  )
}
