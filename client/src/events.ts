/** Follows the events of an organization. */
import type { components, paths } from './api.ts'
import type { WorkspaceClient } from './client.ts'
import { dataOf, WorkspaceApiError } from './errors.ts'
import { pause, type RetryOptions, retryAfterMs } from './retrying.ts'

export type WorkspaceEvent = components['schemas']['Event']

type Filters = Omit<NonNullable<paths['/v1/events']['get']['parameters']['query']>, 'after' | 'limit'>

const TOO_MANY_REQUESTS = 429
const LARGEST_PAGE = '1000'
const POLL_MS = 5000
const MAX_PAUSE_MS = 5 * 60_000

export interface EventsOptions extends Filters {
  /** The `cursor` where an earlier iteration ended, or `now`. Without it: all events that are kept. */
  readonly after?: string | undefined
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined
  /** How long to wait at the end of the feed, in milliseconds; default: 5,000. */
  readonly pollMs?: number | undefined
  /** Gets each failure after which the iteration continues. */
  readonly onFailure?: ((error: Error) => void) | undefined
  /** How to wait, in milliseconds. Rejects if the signal is aborted. */
  readonly wait?: RetryOptions['wait'] | undefined
}

/** The events in the order of their commits: those that are there, and then each later one. */
export interface EventFeed extends AsyncIterable<WorkspaceEvent> {
  /**
   * Where to continue: `after` of another iteration. Store it when you have handled an event. It moves with the last
   * event of a page, so after a restart you may get events again that you have handled.
   */
  readonly cursor: string | undefined
}

/**
 * Requests a page when its first event is needed. After a failure to connect, a 429 or a 5xx it waits, longer each time
 * or as long as `Retry-After` says, and continues where it was.
 * @throws WorkspaceApiError from the iteration for any other response, such as 410 `cursor_expired`: then events may be
 *   missing, so read what you keep a copy of again, and continue with `after: 'now'`.
 */
export function events(client: WorkspaceClient, options: EventsOptions = {}): EventFeed {
  return new Feed(client, options)
}

class Feed implements EventFeed {
  cursor: string | undefined
  readonly #client: WorkspaceClient
  readonly #filters: Filters
  readonly #options: Omit<EventsOptions, keyof Filters | 'after'>

  constructor(client: WorkspaceClient, { after, signal, pollMs, onFailure, wait, ...filters }: EventsOptions) {
    this.#client = client
    this.#filters = filters
    this.#options = { signal, pollMs, onFailure, wait }
    this.cursor = after
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WorkspaceEvent, void, undefined> {
    const { pollMs = POLL_MS, signal = new AbortController().signal, onFailure, wait = pause } = this.#options
    let failures = 0
    while (!signal.aborted) {
      const outcome = await this.#page(signal).catch((error: Error) => {
        if (error instanceof WorkspaceApiError && !signal.aborted) throw error
        return { error, retryAfterMs: 0 }
      })
      if (signal.aborted) return
      let pauseMs = 0
      if ('error' in outcome) {
        onFailure?.(outcome.error)
        const backoffMs = Math.min(pollMs * 2 ** failures++, MAX_PAUSE_MS) * (1 + Math.random() / 2)
        pauseMs = Math.max(backoffMs, outcome.retryAfterMs)
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

  /** The next page, or a failure that may pass. @throws WorkspaceApiError */
  async #page(signal: AbortSignal) {
    const query = { ...this.#filters, limit: LARGEST_PAGE, ...(this.cursor !== undefined && { after: this.cursor }) }
    const result = await this.#client.GET('/v1/events', { params: { query }, signal })
    const { status } = result.response
    return status >= 500 || status === TOO_MANY_REQUESTS
      ? { error: new WorkspaceApiError(result), retryAfterMs: retryAfterMs(result.response) }
      : dataOf(result)
  }
}
