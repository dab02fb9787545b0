/** A clock that stands still, so that no test depends on the time of day. */
import { afterEach, beforeEach, vi } from 'vitest'

export const START = Date.parse('2026-06-01T12:00:00.000Z')

/** Stops the clock at `START` before each test of the file. */
export function stopClock(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: START })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
}

/** Waits until the clock is past an instant. It may be set back. */
export async function waitPast(instant: string): Promise<void> {
  while (new Date().toISOString() <= instant) await scheduler.wait(1)
}
