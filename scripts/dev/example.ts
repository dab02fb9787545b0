/** Calls the seven core operations on the demo workspace of a running `npm run dev`. */
import { existsSync, readFileSync } from 'node:fs'
import { createWorkspaceClient } from '../../client/src/index.ts'
import { describeCommand, parsed } from '../../command-line/src/index.ts'

const command = parsed(
  describeCommand(
    'npm run example --',
    'Calls the seven core operations on the demo workspace of a running `npm run dev`.',
    ['npm run example', 'npm run example -- some/dir/demo.json'],
  ).argument('[demo.json]', 'describes the demo workspace; default: that of .wrangler/state'),
)
const [given] = command.processedArgs
const file = given ?? '.wrangler/state/demo.json'
if (!existsSync(file))
  throw new Error(`There is no demo workspace${given ? ` in ${given}` : ''}. \`npm run dev\` creates one.`)
const demo = JSON.parse(readFileSync(file, 'utf8'))
const client = createWorkspaceClient(demo.baseUrl, demo.apiKey)
const [first, second] = demo.pins

const pin = await client.PATCH('/v1/pins/{resourceType}/{resourceId}', {
  params: { path: second },
  body: { placement: { target: { type: first.resourceType, id: first.resourceId }, position: 'before' } },
})
report('updatePin', pin, pin.data?.updated)

const projectSchedule = await client.POST('/v1/projects/{projectId}/schedules', {
  params: { path: { projectId: demo.projectId } },
  body: { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
})
report('createProjectSchedule', projectSchedule, projectSchedule.data?.nextRunAt)

const agentSchedule = await client.POST('/v1/agents/{agentId}/schedules', {
  params: { path: { agentId: demo.agentId }, header: { 'Idempotency-Key': 'client-example' } },
  body: { cron: '0 6 * * *' },
})
report('createAgentSchedule', agentSchedule, agentSchedule.data?.nextRunAt)

const files = await client.GET('/v1/sessions/{sessionId}/files', {
  params: { path: { sessionId: demo.sessionId }, query: { limit: '3' } },
})
report(
  'listSessionFiles',
  files,
  files.data?.items.map((file) => file.path),
)

const skill = await client.GET('/v1/skills/{skillId}', { params: { path: { skillId: demo.skillId } } })
report(
  'retrieveSkill',
  skill,
  skill.data?.files.map((file) => file.filename),
)

const picture = await client.DELETE('/v1/users/{userId}/profile-picture', {
  params: { path: { userId: demo.userId } },
})
report('deleteProfilePicture', picture, picture.data?.deleted)

const variable = await client.DELETE('/v1/projects/{projectId}/environment-variables/{key}', {
  params: { path: { projectId: demo.projectId, key: demo.environmentVariableKey } },
})
report('deleteEnvironmentVariable', variable, variable.data?.deleted)

function report(operation: string, { response, error }: { response: Response; error?: unknown }, shown: unknown) {
  console.log(operation, response.status, JSON.stringify(error ?? shown))
  if (!response.ok) process.exitCode = 1
}
