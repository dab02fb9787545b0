/** `workspace run-endpoint`: where the runs of an organization are sent. */
import { setTimeout } from 'node:timers/promises'
import { Option } from '@commander-js/extra-typings'
import { printable } from '../../client/src/printable.ts'
import { describe, given, group, withJson, withOverlap, withTimes } from './command.ts'
import { attemptText, print, printProperties } from './output.ts'
import { readUrl, URL_ARGUMENT } from './prompt.ts'
import { AGENT, PROJECT, SCHEDULE, scheduleOf } from './resolve.ts'
import { connect } from './service.ts'
import { time } from './times.ts'

const [POLL_MS, MAX_POLLS] = [1000, 60]

const show = withTimes(describe('show', 'Shows the run endpoint, without its secret.', ['run-endpoint show'])).action(
  async (output) => {
    const endpoint = await connect().runEndpoint.retrieve()
    printProperties(output, endpoint, {
      URL: endpoint.url,
      created: time(endpoint.createdAt),
      updated: time(endpoint.updatedAt),
      'previous secret expires': time(endpoint.previousSecretExpiresAt),
    })
  },
)

const set = withJson(
  describe(
    'set',
    'Sets the URL that new runs are sent to. If there was no run endpoint, prints its secret, which is shown only once; otherwise the secret stays the same.',
    ['run-endpoint set https://hooks.example.com/runs', 'run-endpoint set - < url.txt'],
  ).argument('<url>', URL_ARGUMENT),
).action(async (url, output) => {
  const endpoint = await connect().runEndpoint.put({ url: await readUrl(url) })
  if (!output.json) {
    const secret = endpoint.secret === null ? ' Its secret stays the same.' : ' Its secret is shown only now:'
    console.error(`Set ${printable(endpoint.url)}.${secret}`)
    if (endpoint.secret === null) return
  }
  print(output, endpoint, endpoint.secret ?? '')
})

const rotate = withOverlap(
  describe('rotate', 'Makes a new secret of the run endpoint and prints it. Runs are signed with both for a while.', [
    'run-endpoint rotate',
    'run-endpoint rotate --overlap 0',
  ]),
).action(async ({ overlap, ...output }) => {
  const endpoint = await connect().runEndpoint.rotate(given({ overlapSeconds: overlap }))
  if (!output.json) console.error('The new secret is shown only now:')
  print(output, endpoint, endpoint.secret)
})

const test = withJson(
  describe(
    'test',
    'Runs a schedule now, waits until the run is sent, and shows the response of the run endpoint. Fails if it is not accepted. The run does its work.',
    ['run-endpoint test "Nightly build"'],
  )
    .argument('<schedule>', SCHEDULE)
    .option(...PROJECT)
    .addOption(new Option(...AGENT).conflicts('project')),
).action(async (text, { project, agent, ...output }) => {
  const workspace = connect()
  await workspace.runEndpoint.retrieve()
  const { schedules, parentId, id } = await scheduleOf(workspace, text, { project, agent })
  const { id: runId } = await schedules.runs.create(parentId, id)
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const { lastAttempts } = await workspace.runs.retrieve(runId)
    const [attempt] = lastAttempts
    if (attempt) {
      if (attempt.error !== null) process.exitCode = 1
      return print(output, { runId, ...attempt }, attemptText(attempt))
    }
    await setTimeout(POLL_MS)
  }
  throw new Error(`The run ${runId} was not sent within a minute. \`workspace runs show ${runId}\` shows it.`)
})

const remove = withJson(
  describe('delete', 'Deletes the run endpoint and its secret. New runs wait until they are claimed.', [
    'run-endpoint delete',
  ]),
).action(async (output) => {
  print(output, await connect().runEndpoint.delete(), 'Deleted the run endpoint.')
})

export const runEndpoint = group(
  'run-endpoint',
  'Shows, sets, tests and deletes the run endpoint: the URL that the runs are sent to.',
  ['run-endpoint set https://hooks.example.com/runs', 'run-endpoint show'],
  [show, set, rotate, test, remove],
)
