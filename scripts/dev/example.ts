/** Calls the seven core operations on the demo workspace of a running `npm run dev`. */
import { existsSync, readFileSync } from 'node:fs'
import { type Call, Workspace, WorkspaceError } from '../../client/src/index.ts'
import { describeCommand, parsed } from '../../command-line/src/index.ts'

const command = parsed(
  describeCommand(
    'npm run example --',
    'Calls the seven core operations on the demo workspace of a running `npm run dev`.',
    ['npm run example', 'npm run example -- some/dir/demo.json'],
  ).argument('[demo.json]', 'describes the demo workspace; default: the file in .wrangler/state'),
)
const [given] = command.processedArgs
const file = given ?? '.wrangler/state/demo.json'
if (!existsSync(file))
  throw new Error(`There is no demo workspace${given ? ` in ${given}` : ''}. \`npm run dev\` creates one.`)
const demo = JSON.parse(readFileSync(file, 'utf8'))
const workspace = new Workspace({ url: demo.baseUrl, apiKey: demo.apiKey })
const [first, second] = demo.pins

const target = { type: first.resourceType, id: first.resourceId }
await report(
  'updatePin',
  ({ updated }) => updated,
  () => workspace.pins.update(second.resourceType, second.resourceId, { placement: { target, position: 'before' } }),
)
// Run again, the example creates no other schedule: the responses are those of the first time.
const idempotencyKey = 'client-example'
const weekdays = { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' }
await report(
  'createProjectSchedule',
  ({ nextRunAt }) => nextRunAt,
  () => workspace.projects.schedules.create(demo.projectId, weekdays, { idempotencyKey }),
)
await report(
  'createAgentSchedule',
  ({ nextRunAt }) => nextRunAt,
  () => workspace.agents.schedules.create(demo.agentId, { cron: '0 6 * * *' }, { idempotencyKey }),
)
await report(
  'listSessionFiles',
  ({ items }) => items.map(({ path }) => path),
  () => workspace.sessions.files.list(demo.sessionId, { limit: 3 }).page(),
)
await report(
  'retrieveSkill',
  ({ files }) => files.map(({ filename }) => filename),
  () => workspace.skills.retrieve(demo.skillId),
)
await report(
  'deleteProfilePicture',
  ({ deleted }) => deleted,
  () => workspace.users.profilePicture.delete(demo.userId),
)
await workspace.projects.environmentVariables.put(demo.projectId, 'LOG_LEVEL', { value: 'debug' })
await report(
  'deleteEnvironmentVariable',
  ({ deleted }) => deleted,
  () => workspace.projects.environmentVariables.delete(demo.projectId, 'LOG_LEVEL'),
)

/** Calls an operation, and prints its status and what is shown of its result. */
async function report<Data>(operation: string, show: (data: Data) => unknown, call: () => Call<Data>): Promise<void> {
  try {
    const { data, response } = await call().withResponse()
    console.log(operation, response.status, JSON.stringify(show(data)))
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error
    console.log(operation, error.status, JSON.stringify({ error: error.message }))
    process.exitCode = 1
  }
}
