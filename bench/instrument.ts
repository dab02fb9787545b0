/**
 * A Worker whose databases are as far away as wanted, and counted. `X-Bench-Delay-Ms` on a request delays each of its
 * calls to D1; `X-Bench-D1` on the response says what they were: `calls,statements,rows read,rows written`.
 * The answer to `TAKE_USE` says the same of all work since the last such answer: requests, ticks and batches of a queue.
 */

export const TAKE_USE = '/bench/take-use'
/** Collects the garbage of the isolate, where V8 has the flag `--expose-gc`. */
export const COLLECT_GARBAGE = '/bench/collect-garbage'

interface Use {
  calls: number
  statements: number
  rowsRead: number
  rowsWritten: number
}

type Bindings = { readonly DB: D1Database }

export function instrument<Env extends Bindings, Message>(
  worker: ExportedHandler<Env, Message>,
): ExportedHandler<Env, Message> {
  let total = unused()
  return {
    async fetch(request, environment, context) {
      const { pathname } = new URL(request.url)
      if (pathname === TAKE_USE) {
        const taken = total
        total = unused()
        return Response.json(taken)
      }
      if (pathname === COLLECT_GARBAGE) {
        // The flavor gives the memory back to the system.
        const { gc } = globalThis as { gc?: (options: object) => void }
        gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
        return Response.json({})
      }
      const use = unused()
      const delayMs = Number(request.headers.get('X-Bench-Delay-Ms') ?? 0)
      const response = (await worker.fetch?.(request, watched(environment, delayMs, use, total), context)) as Response
      const headers = new Headers(response.headers)
      headers.set('X-Bench-D1', `${use.calls},${use.statements},${use.rowsRead},${use.rowsWritten}`)
      return new Response(response.body, { status: response.status, headers })
    },
    async scheduled(controller, environment, context) {
      await worker.scheduled?.(controller, watched(environment, 0, total), context)
    },
    async queue(batch, environment, context) {
      await worker.queue?.(batch, watched(environment, 0, total), context)
    },
  }
}

function unused(): Use {
  return { calls: 0, statements: 0, rowsRead: 0, rowsWritten: 0 }
}

/** The environment with all of its databases watched: `DB`, `DB_1` and so on. */
function watched<Env extends Bindings>(environment: Env, delayMs: number, ...uses: readonly Use[]): Env {
  const databases = Object.entries(environment)
    .filter(([name]) => /^DB(_\d+)?$/.test(name))
    .map(([name, database]) => [name, watchedDatabase(database as D1Database, delayMs, uses)])
  return { ...environment, ...Object.fromEntries(databases) }
}

/** Only what the contenders call is here; the casts claim the rest. */
function watchedDatabase(database: D1Database, delayMs: number, uses: readonly Use[]): D1Database {
  const bare = new WeakMap<object, D1PreparedStatement>()

  const call = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    for (const use of uses) use.calls++
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    return run()
  }
  const count = <Result extends { meta: D1Meta }>(result: Result): Result => {
    for (const use of uses) {
      use.statements++
      use.rowsRead += result.meta.rows_read
      use.rowsWritten += result.meta.rows_written
    }
    return result
  }
  const watch = (statement: D1PreparedStatement): D1PreparedStatement => {
    const all = () => call(async () => count(await statement.all()))
    const watched = {
      bind: (...values: unknown[]) => watch(statement.bind(...values)),
      all,
      run: all,
      first: async (column?: string) => {
        const [row] = (await all()).results
        return (column === undefined ? row : row?.[column]) ?? null
      },
      // No contender asks for two columns of one name, so the rows are those of `all`.
      raw: async () => (await all()).results.map((row) => Object.values(row)),
    } as unknown as D1PreparedStatement // Its methods are overloaded and generic, which an object literal can't be.
    bare.set(watched, statement)
    return watched
  }
  return {
    prepare: (sql: string) => watch(database.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) =>
      call(async () => {
        const results = await database.batch(statements.map((each) => bare.get(each) as D1PreparedStatement))
        return results.map(count)
      }),
    // Only what the service calls is here; the cast claims the rest.
  } as unknown as D1Database
}
