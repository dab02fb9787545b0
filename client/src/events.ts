/** Follows the events of an organization. */
import type { components } from './api.ts'
import { WorkspaceError } from './errors.ts'
import type { Options } from './operation.ts'
import type { Resources } from './resources.ts'
import { pause, type Wait } from './retrying.ts'

export type WorkspaceEvent = components['schemas']['Event']

type Filters = Pick<Options<'listEvents'>, 'types' | 'resource' | 'projectId' | 'apiKeyId' | 'userId'>

const TOO_MANY_REQUESTS = 429
const LARGEST_PAGE = 1000
const POLL_MS = 5000
const MAX_PAUSE_MS = 5 * 60_000

export interface FollowOptions extends Filters {
  /** The `cursor` where an earlier iteration ended, or `now`. Without it: all events that are kept. */
  readonly after?: string | undefined
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined
  /** How long to wait at the end of the feed, in milliseconds; default: 5,000. */
  readonly pollMs?: number | undefined
  /** Gets each failure after which the iteration continues. */
  readonly onFailure?: ((error: Error) => void) | undefined
  /** How to wait, in milliseconds. Rejects if the signal is aborted. */
  readonly wait?: Wait | undefined
}

/** The events in the order of their commits: those that are there, and then each later one. */
export interface EventFeed extends AsyncIterable<WorkspaceEvent> {
  /**
   * Where to continue: `after` of another iteration. Store it when you have handled an event. It moves with the last
   * event of a page, so after a restart you may get events again that you have handled.
   */
  readonly cursor: string | undefined
}

/** The methods of events that need more than one request. */
export interface Following {
  /**
   * Follows the events. Requests a page when its first event is needed. After a failure to connect, a 429 or a 5xx it
   * waits, longer each time or as long as `Retry-After` says, and continues where it was.
   * @throws WorkspaceError from the iteration for any other response, such as 410 `cursor_expired`: then events may be
   *   missing, so read what you keep a copy of again, and continue with `after: 'now'`.
   */
  follow(options?: FollowOptions): EventFeed
}

export class Feed implements EventFeed {
  cursor: string | undefined
  readonly #events: Resources['events']
  readonly #filters: Filters
  readonly #options: Omit<FollowOptions, keyof Filters | 'after'>

  constructor(events: Resources['events'], { after, signal, pollMs, onFailure, wait, ...filters }: FollowOptions = {}) {
    this.#events = events
    this.#filters = filters
    this.#options = { signal, pollMs, onFailure, wait }
    this.cursor = after
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WorkspaceEvent, void, undefined> {
    const { pollMs = POLL_MS, signal = new AbortController().signal, onFailure, wait = pause } = this.#options
    let failures = 0
    while (!signal.aborted) {
      const outcome = await this.#page(signal).catch((error: Error) => {
        if (!mayPass(error) && !signal.aborted) throw error
        return { error }
      })
      if (signal.aborted) return
      let pauseMs = 0
      if ('error' in outcome) {
        onFailure?.(outcome.error)
        const backoffMs = Math.min(pollMs * 2 ** failures++, MAX_PAUSE_MS) * (1 + Math.random() / 2)
        const retryAfter = outcome.error instanceof WorkspaceError ? outcome.error.retryAfter : null
        pauseMs = Math.max(backoffMs, (retryAfter ?? 0) * 1000)
      } else {
        failures = 0
        const { items, nextCursor, hasMore } = outcome
        for (const [index, event] of items.entries()) {
          if (index === items.length - 1) this.cursor = nextCursor
          yield event
        }
        this.cursor = nextCursor
        pauseMs = hasMore ? 0 : pollMs
      }
      if (pauseMs > 0) await wait(pauseMs, signal).catch(() => undefined)
    }
  }

  #page(signal: AbortSignal) {
    const page = { limit: LARGEST_PAGE, after: this.cursor }
    // This iteration repeats by itself.
    return this.#events.list({ ...this.#filters, ...page, signal, maxRetries: 0 }).page()
  }
}

function mayPass(error: Error): boolean {
  return !(error instanceof WorkspaceError) || error.status >= 500 || error.status === TOO_MANY_REQUESTS
}
