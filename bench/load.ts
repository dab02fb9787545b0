/** A load of a fixed number of requests over a fixed number of connections, to loopback. */
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'

export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Text is JSON. */
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** Where it is not sent with the key of the load. */
  readonly token?: string
  /** The status that it is to be refused with; else it has to succeed. */
  readonly refusal?: number
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** The time of each request, ascending. */
  readonly latenciesMs: readonly number[]
  /** Answers that were not a success, by what was asked and the status. */
  readonly failures: ReadonlyMap<string, number>
  /** What the requests asked of D1, if the server is instrumented. */
  readonly database: DatabaseUse
}

export interface DatabaseUse {
  readonly calls: number
  readonly statements: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

export const UNUSED: DatabaseUse = { calls: 0, statements: 0, rowsRead: 0, rowsWritten: 0 }

export function sumOf(use: DatabaseUse, other: DatabaseUse, sign: 1 | -1 = 1): DatabaseUse {
  return {
    calls: use.calls + sign * other.calls,
    statements: use.statements + sign * other.statements,
    rowsRead: use.rowsRead + sign * other.rowsRead,
    rowsWritten: use.rowsWritten + sign * other.rowsWritten,
  }
}

export function perItem(use: DatabaseUse, items: number): DatabaseUse {
  return {
    calls: use.calls / items,
    statements: use.statements / items,
    rowsRead: use.rowsRead / items,
    rowsWritten: use.rowsWritten / items,
  }
}

export interface Load {
  readonly amount: number
  readonly connections: number
  /** How far away the database is, if the server is instrumented. */
  readonly delayMs?: number
  /** Called when the connections are open, and nothing is sent yet. */
  readonly opened?: () => void
}

/** Sends `amount` requests, the next one as soon as a connection is free. */
export async function load(
  origin: URL,
  token: string,
  requestAt: (index: number) => BenchRequest,
  { amount, connections, delayMs = 0, opened }: Load,
): Promise<LoadResult> {
  const pool = new Pool(origin.origin, { connections, pipelining: 1 })
  const latenciesMs: number[] = []
  const failures = new Map<string, number>()
  const database = { calls: 0, statements: 0, rowsRead: 0, rowsWritten: 0 }
  let next = 0

  const connection = async () => {
    while (next < amount) {
      const request = requestAt(next++)
      const { method, path, body, refusal } = request
      const start = performance.now()
      const response = await pool.request({
        method,
        path,
        headers: { ...headersOf(token, request), 'x-bench-delay-ms': String(delayMs) },
        body: body ?? null,
      })
      await response.body.dump({ limit: Number.MAX_SAFE_INTEGER })
      latenciesMs.push(performance.now() - start)
      const [calls = 0, statements = 0, rowsRead = 0, rowsWritten = 0] = usedBy(response.headers)
      database.calls += calls
      database.statements += statements
      database.rowsRead += rowsRead
      database.rowsWritten += rowsWritten
      if (refusal === undefined ? response.statusCode >= 300 : response.statusCode !== refusal) {
        const failure = `${method} ${path.split('/')[2]}: ${response.statusCode}`
        failures.set(failure, (failures.get(failure) ?? 0) + 1)
      }
    }
  }

  // Opening the connections is not what is measured.
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const response = await pool.request({ method: 'GET', path: '/v1/none' })
      await response.body.dump()
    }),
  )
  opened?.()
  const start = performance.now()
  await Promise.all(Array.from({ length: connections }, connection))
  const seconds = (performance.now() - start) / 1000
  await pool.close()
  return { requests: amount, seconds, latenciesMs: latenciesMs.sort((a, b) => a - b), failures, database }
}

/** Sends one request. */
export async function ask(origin: URL, token: string, request: BenchRequest) {
  const { method, path, body } = request
  const response = await fetch(new URL(path, origin), {
    method,
    headers: headersOf(token, request),
    body: body ?? null,
  })
  const { status, headers } = response
  // Bodies of other types are not read.
  const text = headers.get('content-type')?.includes('json') ? await response.text() : '{}'
  return { status, headers, text, body: JSON.parse(text) as object }
}

/** The value below which this share of the ascending values lies. */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b)
  const middle = ascending.length / 2
  return ((ascending[Math.ceil(middle) - 1] ?? Number.NaN) + (ascending[Math.floor(middle)] ?? Number.NaN)) / 2
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** @returns D1 calls, statements, rows read and rows written. */
function usedBy(headers: Record<string, string | string[] | undefined>): number[] {
  return String(headers['x-bench-d1'] ?? '0,0,0,0')
    .split(',')
    .map(Number)
}

function headersOf(token: string, request: BenchRequest): Record<string, string> {
  return {
    authorization: `Bearer ${request.token ?? token}`,
    ...(typeof request.body === 'string' && { 'content-type': 'application/json' }),
    ...request.headers,
  }
}
