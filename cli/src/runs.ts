/** `workspace runs`. */
import { Argument, Option } from '@commander-js/extra-typings'
import type { components } from '../../client/src/index.ts'
import { countOf } from '../../command-line/src/index.ts'
import { OUTCOMES, STATUS_FILTERS } from '../../src/contracts.ts'
import { describe, given, group, integerFrom, withJson, withLimit, withTimes } from './command.ts'
import { attemptText, print, printList, printProperties } from './output.ts'
import { KINDS, resolve, resolveOption } from './resolve.ts'
import { connect, pageSize } from './service.ts'
import { time, timeText } from './times.ts'
import { workOnRuns } from './worker.ts'

const list = withLimit(
  describe('list', 'Lists runs, the latest first; with --status pending, the oldest first.', [
    'runs list',
    'runs list --status failed --from 2026-03-01T00:00:00Z',
    'runs list --project website --limit 10 --json',
  ])
    .addOption(new Option('--status <status>', 'only runs with this status').choices(STATUS_FILTERS))
    .option('--schedule <schedule>', 'only runs of this schedule: its ID, its first characters, or its name')
    .option('--project <project>', 'only runs of this project; required if the API key is restricted to projects')
    .option('--from <time>', 'only runs that were due at or after this time')
    .option('--to <time>', 'only runs that were due before this time'),
  50,
).action(async ({ status, schedule, project, from, to, limit = 50, ...output }) => {
  const workspace = connect()
  const projectId = await resolveOption(workspace, KINDS.project, project)
  const scheduleId = await resolveOption(workspace, KINDS.schedule, schedule)
  const query = given({ status, scheduleId, projectId, from, to, limit: pageSize(limit) })
  await printList(
    { ...output, limit },
    workspace.runs.list(query),
    {
      ID: ({ id }) => id,
      SCHEDULE: ({ scheduleName }) => scheduleName,
      DUE: ({ scheduledAt }) => time(scheduledAt),
      STATUS: statusOf,
      FINISHED: ({ finishedAt }) => time(finishedAt),
      MESSAGE: ({ message, lastError }) => message ?? lastError,
    },
    { OF: parentOf, SESSION: ({ sessionId }) => sessionId },
  )
})

type Run = components['schemas']['Run']

const parentOf = ({ projectId, agentId }: Run) => (projectId === null ? `agent ${agentId}` : `project ${projectId}`)
const statusOf = ({ status, failure }: Run) => (failure ? `${status} (${failure})` : status)

const RUN = ['<run>', 'the ID of the run, or its first characters if it is one of the latest 1,000'] as const

const show = withTimes(
  describe('show', 'Shows a run: its last delivery attempts, why it failed, when it is sent again, and who holds it.', [
    'runs show 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900',
  ]).argument(...RUN),
).action(async (text, output) => {
  const workspace = connect()
  const run = await workspace.runs.retrieve(await resolve(workspace, KINDS.run, text))
  const { claim } = run
  printProperties(output, run, {
    run: run.id,
    schedule: run.scheduleName ? `${run.scheduleName} (${run.scheduleId})` : run.scheduleId,
    of: parentOf(run),
    due: time(run.scheduledAt),
    status: statusOf(run),
    'sent or claimed': countOf(run.attempts, 'time'),
    'sent again': time(run.nextAttemptAt),
    'claimed by': claim && `${claim.apiKeyName} (${claim.apiKeyId}) until ${timeText(claim.leaseExpiresAt, output)}`,
    started: time(run.startedAt),
    finished: time(run.finishedAt),
    session: run.sessionId,
    message: run.message,
    error: run.lastError,
    ...Object.fromEntries(
      run.lastAttempts.map(({ startedAt, status, milliseconds, error }, index) => [
        index === 0 ? 'last attempt' : `${index} before`,
        `${timeText(startedAt, output)}: ${attemptText({ status, milliseconds, error })}`,
      ]),
    ),
  })
})

const redeliver = withJson(
  describe(
    'redeliver',
    'Sends a run to the run endpoint again: one that is pending, that was delivered and has no outcome, or whose delivery failed.',
    ['runs redeliver 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900'],
  ).argument(...RUN),
).action(async (text, output) => {
  const workspace = connect()
  const run = await workspace.runs.redeliver(await resolve(workspace, KINDS.run, text))
  print(output, run, `The run ${run.id} is in the queue.`)
})

const complete = withJson(
  describe('complete', 'Records the outcome of a run. The first outcome stands.', [
    'runs complete 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 succeeded --message "Built 14 pages."',
    'runs complete 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 failed',
  ])
    .argument(...RUN)
    .addArgument(new Argument('<outcome>', 'what became of it').choices(OUTCOMES))
    .option('--message <text>', 'what happened, for people')
    .option('--session <session>', 'the session in which the work was done')
    .option('--claim <id>', 'the claim of the run, if it is claimed'),
).action(async (text, outcome, { message, session, claim: claimId, ...output }) => {
  const workspace = connect()
  const sessionId = await resolveOption(workspace, KINDS.session, session)
  const body = { outcome, ...given({ message, sessionId, claimId }) }
  const run = await workspace.runs.complete(await resolve(workspace, KINDS.run, text), body)
  print(output, run, `The run ${run.id} has ${run.status}.`)
})

const work = withJson(
  describe(
    'work',
    'Claims pending runs and runs a command for each: the run, as JSON with its payload, is on standard input. Exit code 0 completes the run as succeeded, any other as failed, with the last lines of standard error as its message. The claim is renewed meanwhile; before it is lost, or before the time of the run is over, the command is stopped. What the command prints goes to standard error. SIGTERM or Ctrl-C ends the worker after its current runs; a second one stops the commands and gives the runs back. The API key needs the scope runs:write.',
    [
      'runs work -- ./build.sh',
      'runs work --project website --concurrency 4 -- node work.js',
      "runs work --once -- sh -c 'jq .payload'",
    ],
  )
    .option('--project <project>', 'only runs of this project; required if the API key is restricted to projects')
    .option('--lease <seconds>', 'how long a claim lasts; it is renewed', integerFrom(60, 86_400), 300)
    .option('--concurrency <number>', 'how many runs to work on at a time', integerFrom(1, 100), 1)
    .option('--poll <seconds>', 'how long to wait if there is no pending run', integerFrom(1, 3600), 5)
    .option('--once', 'claim once, and end after the claimed runs')
    .argument('<command...>', 'what to run for each run, after --'),
).action(workOnRuns)

export const runs = group(
  'runs',
  'Lists and shows runs, sends them again, completes them, and works on those that are pending.',
  ['runs list', 'runs work -- ./build.sh'],
  [list, show, complete, redeliver, work],
)
