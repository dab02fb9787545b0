/** `workspace runs work`: claims runs, and runs a command for each. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { dataOf, type WorkspaceClient } from '../../client/src/index.ts'
import { type Ended, ended } from './child.ts'
import { given } from './command.ts'
import { type OutputOptions, outcomeLine } from './output.ts'

const CONFLICT = 409
const NOT_FOUND = 404
const TOO_MANY_REQUESTS = 429
/** A command that is stopped is killed after this time. */
const GRACE_MS = 10_000
const PAUSE_MS = 5_000
/** A run that is given back is pending again after this time. */
const SHORTEST_LEASE_SECONDS = 60
/** A claim is renewed several times in its duration, so that one failed request does not lose it. */
const RENEWALS = 4

interface WorkOptions extends OutputOptions {
  readonly project?: string | undefined
  readonly lease: number
  readonly concurrency: number
  readonly poll: number
  readonly once?: true | undefined
}

type ClaimedRun = Awaited<ReturnType<typeof claim>>[number]

/** Ends after a signal, or with `once` after the claimed runs. */
export async function workOnRuns(
  client: WorkspaceClient,
  command: readonly string[],
  options: WorkOptions,
): Promise<void> {
  const [finish, giveBack] = [new AbortController(), new AbortController()]
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (finish.signal.aborted) giveBack.abort()
      finish.abort()
    })
  }
  const active = new Set<Promise<void>>()
  let failure: Error | undefined
  while (!finish.signal.aborted) {
    const free = options.concurrency - active.size
    const claimedAt = Date.now()
    const runs = await claim(client, free, options).catch((error: Error & { status?: number }) => {
      const { status = 0 } = error
      if (options.once || (status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS)) failure = error
      else console.error(error.message)
      return []
    })
    for (const run of runs) {
      const job = new Job(client, run, command, options, claimedAt)
        .work(giveBack.signal)
        .catch((error: Error) => {
          failure = error
          finish.abort()
        })
        .finally(() => active.delete(job))
      active.add(job)
    }
    if (options.once || failure) break
    if (active.size < options.concurrency) await pause(options.poll * 1000, finish.signal)
    else await Promise.race(active)
  }
  await Promise.all(active)
  if (failure) throw failure
}

/** Waits, but not beyond a signal. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined)
}

async function claim(client: WorkspaceClient, limit: number, { lease: leaseSeconds, project }: WorkOptions) {
  const body = { limit, leaseSeconds, ...given({ projectId: project }) }
  return dataOf(await client.POST('/v1/runs/claim', { body })).items
}

/** One claimed run. */
class Job {
  readonly #client: WorkspaceClient
  readonly #run: ClaimedRun
  readonly #command: readonly string[]
  readonly #options: WorkOptions
  readonly #leaseMs: number
  /** When the claim ends at the latest, by the clock of this machine. */
  #claimedUntil: number

  constructor(
    client: WorkspaceClient,
    run: ClaimedRun,
    command: readonly string[],
    options: WorkOptions,
    claimedAt: number,
  ) {
    this.#client = client
    this.#run = run
    this.#command = command
    this.#options = options
    this.#leaseMs = options.lease * 1000
    this.#claimedUntil = claimedAt + this.#leaseMs
  }

  /** Runs the command, and prints the outcome. @param giveBack aborts it. @throws if the command cannot be started. */
  async work(giveBack: AbortSignal): Promise<void> {
    const { claimId, leaseExpiresAt, ...work } = this.#run
    const [file = '', ...args] = this.#command
    // In a process group of its own, so that Ctrl-C does not reach it, and its own children can be stopped.
    const child = spawn(file, args, { stdio: ['pipe', process.stderr, process.stderr], detached: true })
    // The command may not read it.
    child.stdin?.on('error', () => undefined).end(JSON.stringify(work))
    const result = ended(child, file)
    const done = new AbortController()
    try {
      const outcome = await Promise.race([
        result.then((how) => this.#complete(how, done.signal)),
        this.#keepClaim(done.signal),
        isAborted(giveBack, done.signal).then(() => 'released' as const),
      ])
      // From now on, the end of the command is no outcome.
      done.abort()
      if (child.exitCode === null && child.signalCode === null) await stop(child, result)
      if (outcome === 'released') await this.#renew(SHORTEST_LEASE_SECONDS)
      console.log(
        outcomeLine(this.#options, outcome, this.#run.id, this.#run.name ? `, ${this.#run.name}` : ''),
      )
    } catch (error) {
      done.abort()
      await this.#renew(SHORTEST_LEASE_SECONDS)
      throw error
    }
  }

  /** Renews the claim until `done`. @returns when the claim is lost. */
  async #keepClaim(done: AbortSignal): Promise<'lost'> {
    const pauseMs = this.#leaseMs / RENEWALS
    for (;;) {
      await setTimeout(pauseMs, undefined, { signal: done })
      const sentAt = Date.now()
      const status = await this.#renew(this.#options.lease)
      if (status === 200) this.#claimedUntil = sentAt + this.#leaseMs
      if (status === CONFLICT || status === NOT_FOUND) return 'lost'
      if (Date.now() + pauseMs >= this.#claimedUntil) return 'lost'
    }
  }

  /** @returns the status of the response, or 0 without one. */
  async #renew(leaseSeconds: number): Promise<number> {
    const { id: runId, claimId } = this.#run
    const result = this.#client.POST('/v1/runs/{runId}/renew', {
      params: { path: { runId } },
      body: { claimId, leaseSeconds },
      signal: AbortSignal.timeout(this.#leaseMs / RENEWALS),
    })
    return result.then(
      ({ response }) => response.status,
      () => 0,
    )
  }

  /** Tries until the service responds or the claim is lost. */
  async #complete(how: Ended, done: AbortSignal): Promise<'succeeded' | 'failed' | 'lost'> {
    const { id: runId, claimId } = this.#run
    const body =
      how.code === 0
        ? { outcome: 'succeeded' as const, claimId }
        : { outcome: 'failed' as const, claimId, message: describe(how) }
    while (!done.aborted) {
      const params = { path: { runId } }
      const result = await this.#client
        .POST('/v1/runs/{runId}/complete', { params, body })
        .catch((error: Error) => void console.error(error.message))
      const status = result?.response.status ?? 0
      if (status === 200) return body.outcome
      if (status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS) {
        console.error(result?.error?.error)
        return 'lost'
      }
      await pause(PAUSE_MS, done)
    }
    return 'lost'
  }
}

async function isAborted(signal: AbortSignal, done: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort', { signal: done })
}

function describe({ code, signal }: Ended): string {
  return signal === null ? `The command ended with exit code ${code}.` : `The command was ended by ${signal}.`
}

/** Ends the command and what it started. */
async function stop(child: ChildProcess, result: Promise<Ended>): Promise<void> {
  kill(child, 'SIGTERM')
  const timer = new AbortController()
  const late = setTimeout(GRACE_MS, undefined, { signal: timer.signal }).then(() => kill(child, 'SIGKILL'))
  late.catch(() => undefined)
  await result
  timer.abort()
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    // The process group; Windows has none.
    if (process.platform === 'win32' || child.pid === undefined) child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // It has ended.
  }
}
