/** `workspace runs work`: claims runs, and runs a command for each. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { type Workspace, WorkspaceError } from '../../client/src/index.ts'
import { MAX_CLAIMED } from '../../src/contracts.ts'
import { type Ended, passOnErrors, requireCommand, start } from './child.ts'
import { given } from './command.ts'
import { currentLogin } from './configuration.ts'
import { type OutputOptions, outcomeLine } from './output.ts'
import { KINDS, resolveOption } from './resolve.ts'
import { connect } from './service.ts'

const TOO_MANY_REQUESTS = 429
/** How long a command may take to end after SIGTERM; then it is killed. */
const GRACE_MS = 10_000
/** A run that is given back is pending again after this time. */
const MIN_LEASE_SECONDS = 60
/** A claim is renewed several times in its duration, so that one failed request does not lose it. */
const RENEWALS = 4
/** How long an outcome is sent after the end of the claim, in case that nobody else has the run yet. */
const LATE_OUTCOME_MS = 5 * 60_000
/** No claim lasts longer. Timers of Node take no more than 24 days. */
const MAX_LEASE_MS = 86_400_000
/** `Date` has whole seconds, rounded down. */
const DATE_PRECISION_MS = 1000

interface WorkOptions extends OutputOptions {
  readonly project?: string | undefined
  readonly lease: number
  readonly concurrency: number
  readonly poll: number
  readonly once?: true | undefined
}

type ClaimedRun = Awaited<ReturnType<typeof claim>>[number]

/** Ends after a signal, or with `once` after the claimed runs. */
export async function workOnRuns(command: readonly string[], options: WorkOptions): Promise<void> {
  const login = currentLogin()
  requireCommand(command[0] ?? '')
  // The process that read it may have ended. The work continues.
  process.stderr.on('error', () => undefined)
  const workspace = connect(login)
  const projectId = await resolveOption(workspace, KINDS.project, options.project)
  const persistentWorkspace = connect(login, { isPersistent: true })
  if (!options.once) console.error('Waiting for runs. Ctrl-C ends the worker after its current runs.')
  await warnOfRunEndpoint(workspace)
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
    const limit = Math.min(options.concurrency - active.size, MAX_CLAIMED)
    const runs = await claim(workspace, limit, { ...options, project: projectId }, giveBack.signal).catch(
      (error: Error & { status?: number }) => {
        const { status = 0 } = error
        if (options.once || (status >= 300 && status < 500 && status !== TOO_MANY_REQUESTS)) failure = error
        else if (!giveBack.signal.aborted) console.error(error.message)
        return []
      },
    )
    for (const run of runs) {
      const job = new Job(persistentWorkspace, run, command, options)
        .work(giveBack.signal)
        .catch((error: Error) => {
          failure = error
          finish.abort()
        })
        .finally(() => active.delete(job))
      active.add(job)
    }
    const isMore = runs.length === MAX_CLAIMED && active.size < options.concurrency
    if (failure || (options.once && !isMore)) break
    if (isMore) continue
    if (active.size < options.concurrency) await pause(options.poll * 1000, finish.signal)
    else await Promise.race(active)
  }
  await Promise.all(active)
  if (failure) throw failure
}

/** Says nothing if the API key may not read the run endpoint: the worker does not need it. */
async function warnOfRunEndpoint(workspace: Workspace): Promise<void> {
  if (await workspace.runEndpoint.retrieve().catch(() => undefined)) {
    console.error(
      'Warning: the organization has a run endpoint, which gets its new runs, so a worker gets none of them. `workspace run-endpoint delete` deletes it.',
    )
  }
}

/** Waits, but not beyond a signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined)
}

async function claim(
  workspace: Workspace,
  limit: number,
  { lease: leaseSeconds, project }: WorkOptions,
  signal: AbortSignal,
) {
  const body = { limit, leaseSeconds, ...given({ projectId: project }) }
  const { data, response } = await workspace.runs.claim(body, { signal }).withResponse()
  return data.items.map((run) => ({ ...run, endsAt: localTime(run.leaseExpiresAt, response) }))
}

/**
 * A time of the service by the clock of this machine, which may differ: what is left of it is counted from the time of
 * the response. `npm run dev` runs on this machine and sends no `Date`.
 */
function localTime(time: string, { headers }: Response): number {
  const date = headers.get('Date')
  const respondedAt = date === null ? Date.now() : Date.parse(date) + DATE_PRECISION_MS
  return Date.now() + Math.min(Date.parse(time) - respondedAt, MAX_LEASE_MS)
}

/** One claimed run. */
class Job {
  readonly #runs: Workspace['runs']
  readonly #run: ClaimedRun
  readonly #command: readonly string[]
  readonly #options: WorkOptions
  /** When the claim ends. */
  #endsAt: number

  constructor({ runs }: Workspace, run: ClaimedRun, command: readonly string[], options: WorkOptions) {
    this.#runs = runs
    this.#run = run
    this.#endsAt = run.endsAt
    this.#command = command
    this.#options = options
  }

  /** Runs the command, and prints the outcome. @param giveBack aborts it. @throws if the command cannot be started. */
  async work(giveBack: AbortSignal): Promise<void> {
    const { claimId, leaseExpiresAt, endsAt, ...work } = this.#run
    const [file = '', ...args] = this.#command
    const done = new AbortController()
    try {
      // In a process group of its own, so that Ctrl-C does not reach it, and its own children can be stopped.
      const { child, ended } = start(file, args, { stdio: ['pipe', process.stderr, 'pipe'], detached: true })
      const errors = child.stderr && passOnErrors(child.stderr)
      // The command may not read it.
      child.stdin?.on('error', () => undefined).end(`${JSON.stringify(work)}\n`)
      const stopped = await Promise.race([
        ended.then(() => undefined),
        this.#keepClaim(done.signal),
        isAborted(giveBack, done.signal).then(() => 'released' as const),
      ]).finally(() => done.abort())
      if (stopped) await stop(child, ended)
      const how = await ended
      const lastLines = await errors?.lastLines()
      const outcome = stopped ?? (await this.#complete(how, lastLines || describe(how), giveBack))
      if (outcome === 'released') await this.#giveBack()
      const { id, name } = this.#run
      console.log(outcomeLine(this.#options, outcome, id, name ? `, ${name}` : '', { id, name }))
    } catch (error) {
      await this.#giveBack()
      throw error
    }
  }

  /** Renews the claim until `done`. @returns why the command has to stop, so early that it has time to end. */
  async #keepClaim(done: AbortSignal): Promise<'lost' | 'timed out'> {
    let { leaseExpiresAt } = this.#run
    const msLeft = () => this.#endsAt - GRACE_MS - Date.now()
    const pauseMs = msLeft() / RENEWALS
    let isLimited = false
    while (msLeft() > 0) {
      await setTimeout(Math.min(pauseMs, msLeft()), undefined, { signal: done })
      if (msLeft() <= 0) break
      const signal = AbortSignal.any([done, AbortSignal.timeout(msLeft())])
      const result = await this.#renew(this.#options.lease, signal)
      if (!result) continue
      if (result instanceof WorkspaceError) {
        console.error(result.message)
        return 'lost'
      }
      // A lease ends with the time of the run at the latest.
      isLimited = result.data.leaseExpiresAt <= leaseExpiresAt
      leaseExpiresAt = result.data.leaseExpiresAt
      this.#endsAt = localTime(leaseExpiresAt, result.response)
    }
    return isLimited ? 'timed out' : 'lost'
  }

  async #giveBack(): Promise<void> {
    await this.#renew(MIN_LEASE_SECONDS, AbortSignal.timeout(GRACE_MS))
  }

  /** @returns undefined if there was no response before the signal. */
  #renew(leaseSeconds: number, signal: AbortSignal) {
    const { id: runId, claimId } = this.#run
    const renewal = this.#runs.renew(runId, { claimId, leaseSeconds }, { signal })
    return renewal.withResponse().catch((error) => (error instanceof WorkspaceError ? error : undefined))
  }

  /**
   * Tries until the service responds, for a while also after the end of the claim: the outcome counts if nobody else
   * has the run.
   */
  async #complete(how: Ended, message: string, giveBack: AbortSignal) {
    const { id: runId, claimId } = this.#run
    const body =
      how.code === 0 ? { outcome: 'succeeded' as const, claimId } : { outcome: 'failed' as const, claimId, message }
    const msLeft = Math.max(this.#endsAt - Date.now(), 0) + LATE_OUTCOME_MS
    const signal = AbortSignal.any([giveBack, AbortSignal.timeout(msLeft)])
    try {
      await this.#runs.complete(runId, body, { signal })
      return body.outcome
    } catch (error) {
      const isRefused = error instanceof WorkspaceError
      if (!isRefused && giveBack.aborted) return 'released'
      console.error(isRefused ? error.message : `The outcome "${body.outcome}" was not sent.`)
      return 'lost'
    }
  }
}

async function isAborted(signal: AbortSignal, done: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort', { signal: done })
}

function describe({ code, signal }: Ended): string {
  return signal === null ? `The command ended with exit code ${code}.` : `The command was ended by ${signal}.`
}

/** Ends the command and what it started. */
async function stop(child: ChildProcess, ended: Promise<Ended>): Promise<void> {
  kill(child, 'SIGTERM')
  const timer = new AbortController()
  const late = setTimeout(GRACE_MS, undefined, { signal: timer.signal }).then(() => kill(child, 'SIGKILL'))
  late.catch(() => undefined)
  await ended
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
