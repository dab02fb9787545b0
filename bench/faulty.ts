/**
 * A Worker whose stores fail now and then, before the work or after it. `X-Soak-Faults` on a response says
 * how often they did for it.
 */
import type { Environment } from '../src/environment.ts'

type Bindings = Environment & { readonly DB: D1Database }

/** One call in so many fails. */
const CALLS_PER_FAULT = 200

const D1_ERRORS = [
  'D1_ERROR: Network connection lost.',
  'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
  'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
]

export function faulty(worker: ExportedHandler<Environment>): ExportedHandler<Environment> {
  return {
    async fetch(request, environment, context) {
      const use = { faults: 0 }
      const response = (await worker.fetch?.(request, withFaults(environment as Bindings, use), context)) as Response
      const headers = new Headers(response.headers)
      headers.set('X-Soak-Faults', String(use.faults))
      return new Response(response.body, { status: response.status, headers })
    },
    scheduled: (controller, environment, context) =>
      worker.scheduled?.(controller, withFaults(environment as Bindings, { faults: 0 }), context),
  }
}

function withFaults(environment: Bindings, use: { faults: number }): Bindings {
  const work = async <Result>(run: () => Promise<Result>, message: string): Promise<Result> => {
    const isFaulty = Math.random() * CALLS_PER_FAULT < 1
    if (!isFaulty) return run()
    use.faults++
    if (Math.random() < 0.5) await run()
    throw new Error(message)
  }
  const message = () => D1_ERRORS[Math.floor(Math.random() * D1_ERRORS.length)] ?? ''
  const { DB, OBJECTS } = environment
  // Only what the service calls of both stores is here; the casts claim the rest.
  return {
    ...environment,
    DB: {
      prepare: (sql: string) => DB.prepare(sql),
      batch: (statements: D1PreparedStatement[]) => work(() => DB.batch(statements), message()),
    } as unknown as D1Database,
    OBJECTS: {
      put: (key: string, value: ReadableStream) => work(() => OBJECTS.put(key, value), 'put: internal error'),
      get: (key: string, options?: R2GetOptions) => work(() => OBJECTS.get(key, options), 'get: internal error'),
      delete: (keys: string | string[]) => work(() => OBJECTS.delete(keys), 'delete: internal error'),
      list: (options?: R2ListOptions) => OBJECTS.list(options),
    } as unknown as R2Bucket,
  }
}
