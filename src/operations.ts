/**
 * THE LIST: every operation of the service. The seven documented ones come first. The code of a resource is loaded on
 * the first request to one of its operations, so that no start-up waits for it.
 */
import type { Contract } from './http/contract.ts'
import type { Endpoint } from './http/endpoint.ts'
import type { Operation } from './http/mount.ts'

const agents = () => import('./resources/platform-resources/agents.ts')
const apiKeys = () => import('./resources/api-keys/handlers.ts')
const auditEvents = () => import('./resources/audit-events/handlers.ts')
const environmentVariables = () => import('./resources/environment-variables/handlers.ts')
const me = () => import('./resources/me/handlers.ts')
const pins = () => import('./resources/pins/handlers.ts')
const profilePictures = () => import('./resources/profile-pictures/handlers.ts')
const projects = () => import('./resources/platform-resources/projects.ts')
const pullRequests = () => import('./resources/platform-resources/pull-requests.ts')
const runEndpoint = () => import('./resources/run-endpoint/handlers.ts')
const runs = () => import('./resources/runs/handlers.ts')
const schedules = () => import('./resources/schedules/handlers.ts')
const sessionFiles = () => import('./resources/session-files/handlers.ts')
const sessions = () => import('./resources/platform-resources/sessions.ts')
const skills = () => import('./resources/skills/handlers.ts')
const users = () => import('./resources/platform-resources/users.ts')

export const operations: readonly Operation[] = [
  route('PATCH /v1/pins/{resourceType}/{resourceId}', pins, ({ updatePin }) => updatePin),
  route(
    'POST /v1/projects/{projectId}/schedules',
    schedules,
    ({ createProjectSchedule }) => createProjectSchedule,
  ),
  route('POST /v1/agents/{agentId}/schedules', schedules, ({ createAgentSchedule }) => createAgentSchedule),
  route('GET /v1/sessions/{sessionId}/files', sessionFiles, ({ listSessionFiles }) => listSessionFiles),
  route('GET /v1/skills/{skillId}', skills, ({ retrieveSkill }) => retrieveSkill),
  route(
    'DELETE /v1/users/{userId}/profile-picture',
    profilePictures,
    ({ deleteProfilePicture }) => deleteProfilePicture,
  ),
  route(
    'DELETE /v1/projects/{projectId}/environment-variables/{key}',
    environmentVariables,
    ({ deleteEnvironmentVariable }) => deleteEnvironmentVariable,
  ),

  route('GET /v1/me', me, ({ retrieveMe }) => retrieveMe),

  route('POST /v1/api-keys', apiKeys, ({ createApiKey }) => createApiKey),
  route('GET /v1/api-keys', apiKeys, ({ listApiKeys }) => listApiKeys),
  route('DELETE /v1/api-keys/{apiKeyId}', apiKeys, ({ deleteApiKey }) => deleteApiKey),
  route('POST /v1/api-keys/{apiKeyId}/rotate', apiKeys, ({ rotateApiKey }) => rotateApiKey),

  route('GET /v1/audit-events', auditEvents, ({ listAuditEvents }) => listAuditEvents),

  route('PUT /v1/projects/{projectId}', projects, ({ put }) => put),
  route('GET /v1/projects/{projectId}', projects, ({ retrieve }) => retrieve),
  route('GET /v1/projects', projects, ({ list }) => list),
  route('PATCH /v1/projects/{projectId}', projects, ({ update }) => update),
  route('DELETE /v1/projects/{projectId}', projects, ({ remove }) => remove),

  route('PUT /v1/agents/{agentId}', agents, ({ put }) => put),
  route('GET /v1/agents/{agentId}', agents, ({ retrieve }) => retrieve),
  route('GET /v1/agents', agents, ({ list }) => list),
  route('PATCH /v1/agents/{agentId}', agents, ({ update }) => update),
  route('DELETE /v1/agents/{agentId}', agents, ({ remove }) => remove),

  route('PUT /v1/sessions/{sessionId}', sessions, ({ put }) => put),
  route('GET /v1/sessions/{sessionId}', sessions, ({ retrieve }) => retrieve),
  route('GET /v1/sessions', sessions, ({ list }) => list),
  route('DELETE /v1/sessions/{sessionId}', sessions, ({ remove }) => remove),

  route('PUT /v1/pull-requests/{pullRequestId}', pullRequests, ({ put }) => put),
  route('GET /v1/pull-requests/{pullRequestId}', pullRequests, ({ retrieve }) => retrieve),
  route('GET /v1/pull-requests', pullRequests, ({ list }) => list),
  route('DELETE /v1/pull-requests/{pullRequestId}', pullRequests, ({ remove }) => remove),

  route('PUT /v1/users/{userId}', users, ({ put }) => put),
  route('GET /v1/users/{userId}', users, ({ retrieve }) => retrieve),
  route('GET /v1/users', users, ({ list }) => list),
  route('DELETE /v1/users/{userId}', users, ({ remove }) => remove),

  route('GET /v1/pins', pins, ({ listPins }) => listPins),
  route('PUT /v1/pins/{resourceType}/{resourceId}', pins, ({ putPin }) => putPin),
  route('DELETE /v1/pins/{resourceType}/{resourceId}', pins, ({ deletePin }) => deletePin),

  route('GET /v1/projects/{projectId}/schedules', schedules, ({ projectSchedules }) => projectSchedules.list),
  route(
    'GET /v1/projects/{projectId}/schedules/{scheduleId}',
    schedules,
    ({ projectSchedules }) => projectSchedules.retrieve,
  ),
  route(
    'PATCH /v1/projects/{projectId}/schedules/{scheduleId}',
    schedules,
    ({ projectSchedules }) => projectSchedules.update,
  ),
  route(
    'DELETE /v1/projects/{projectId}/schedules/{scheduleId}',
    schedules,
    ({ projectSchedules }) => projectSchedules.remove,
  ),
  route('GET /v1/agents/{agentId}/schedules', schedules, ({ agentSchedules }) => agentSchedules.list),
  route(
    'GET /v1/agents/{agentId}/schedules/{scheduleId}',
    schedules,
    ({ agentSchedules }) => agentSchedules.retrieve,
  ),
  route(
    'PATCH /v1/agents/{agentId}/schedules/{scheduleId}',
    schedules,
    ({ agentSchedules }) => agentSchedules.update,
  ),
  route(
    'DELETE /v1/agents/{agentId}/schedules/{scheduleId}',
    schedules,
    ({ agentSchedules }) => agentSchedules.remove,
  ),
  route('GET /v1/schedule-preview', schedules, ({ previewSchedule }) => previewSchedule),

  route(
    'GET /v1/projects/{projectId}/schedules/{scheduleId}/runs',
    runs,
    ({ projectScheduleRuns }) => projectScheduleRuns.list,
  ),
  route(
    'POST /v1/projects/{projectId}/schedules/{scheduleId}/runs',
    runs,
    ({ projectScheduleRuns }) => projectScheduleRuns.create,
  ),
  route(
    'GET /v1/agents/{agentId}/schedules/{scheduleId}/runs',
    runs,
    ({ agentScheduleRuns }) => agentScheduleRuns.list,
  ),
  route(
    'POST /v1/agents/{agentId}/schedules/{scheduleId}/runs',
    runs,
    ({ agentScheduleRuns }) => agentScheduleRuns.create,
  ),
  route('GET /v1/runs', runs, ({ listRuns }) => listRuns),
  route('GET /v1/runs/{runId}', runs, ({ retrieveRun }) => retrieveRun),
  route('POST /v1/runs/{runId}/acknowledge', runs, ({ acknowledgeRun }) => acknowledgeRun),

  route('PUT /v1/run-endpoint', runEndpoint, ({ putRunEndpoint }) => putRunEndpoint),
  route('GET /v1/run-endpoint', runEndpoint, ({ retrieveRunEndpoint }) => retrieveRunEndpoint),
  route('POST /v1/run-endpoint/rotate', runEndpoint, ({ rotateRunEndpoint }) => rotateRunEndpoint),
  route('DELETE /v1/run-endpoint', runEndpoint, ({ deleteRunEndpoint }) => deleteRunEndpoint),

  route('PUT /v1/sessions/{sessionId}/files', sessionFiles, ({ putSessionFile }) => putSessionFile),
  route(
    'GET /v1/sessions/{sessionId}/files/{fileId}/content',
    sessionFiles,
    ({ retrieveSessionFileContent }) => retrieveSessionFileContent,
  ),
  route(
    'DELETE /v1/sessions/{sessionId}/files/{fileId}',
    sessionFiles,
    ({ deleteSessionFile }) => deleteSessionFile,
  ),

  route('GET /v1/skills', skills, ({ listSkills }) => listSkills),
  route('POST /v1/skills', skills, ({ createSkill }) => createSkill),
  route('PATCH /v1/skills/{skillId}', skills, ({ updateSkill }) => updateSkill),
  route('DELETE /v1/skills/{skillId}', skills, ({ deleteSkill }) => deleteSkill),

  route(
    'PUT /v1/users/{userId}/profile-picture',
    profilePictures,
    ({ putProfilePicture }) => putProfilePicture,
  ),
  route(
    'GET /v1/users/{userId}/profile-picture',
    profilePictures,
    ({ retrieveProfilePicture }) => retrieveProfilePicture,
  ),

  route(
    'GET /v1/projects/{projectId}/environment-variables',
    environmentVariables,
    ({ listEnvironmentVariables }) => listEnvironmentVariables,
  ),
  route(
    'PUT /v1/projects/{projectId}/environment-variables/{key}',
    environmentVariables,
    ({ putEnvironmentVariable }) => putEnvironmentVariable,
  ),
  route(
    'POST /v1/projects/{projectId}/environment-variables',
    environmentVariables,
    ({ setEnvironmentVariables }) => setEnvironmentVariables,
  ),
]

/** The type checker holds each route to the contract of its operation. */
function route<Module, C extends Contract>(
  route: `${C['method']} ${C['path']}`,
  load: () => Promise<Module>,
  endpointOf: (module: Module) => Endpoint<C>,
): Operation {
  const [method, path] = route.split(' ') as [C['method'], C['path']]
  return { method, path, load: async () => endpointOf(await load()) }
}

/** Every operation with its contract, for what needs all of them: the OpenAPI document and the tests. */
export function loadOperations(): Promise<Endpoint[]> {
  return Promise.all(operations.map(({ load }) => load()))
}
