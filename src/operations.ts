/** THE LIST: every operation of the service, those of SPEC.txt first. Path and method are checked against the contract. */

import type { Contract, Endpoint } from './http/endpoint.ts'
import { createApiKey, deleteApiKey, listApiKeys, rotateApiKey } from './resources/api-keys/handlers.ts'
import { listAuditEvents } from './resources/audit-events/handlers.ts'
import {
  deleteEnvironmentVariable,
  listEnvironmentVariables,
  putEnvironmentVariable,
  setEnvironmentVariables,
} from './resources/environment-variables/handlers.ts'
import { retrieveMe } from './resources/me/handlers.ts'
import { deletePin, listPins, putPin, updatePin } from './resources/pins/handlers.ts'
import { agents, projects, pullRequests, sessions, users } from './resources/platform-resources/handlers.ts'
import {
  deleteProfilePicture,
  putProfilePicture,
  retrieveProfilePicture,
} from './resources/profile-pictures/handlers.ts'
import {
  deleteRunEndpoint,
  putRunEndpoint,
  retrieveRunEndpoint,
  rotateRunEndpoint,
} from './resources/run-endpoint/handlers.ts'
import {
  acknowledgeRun,
  agentScheduleRuns,
  listRuns,
  projectScheduleRuns,
  retrieveRun,
} from './resources/runs/handlers.ts'
import {
  agentSchedules,
  createAgentSchedule,
  createProjectSchedule,
  previewSchedule,
  projectSchedules,
} from './resources/schedules/handlers.ts'
import {
  deleteSessionFile,
  listSessionFiles,
  putSessionFile,
  retrieveSessionFileContent,
} from './resources/session-files/handlers.ts'
import {
  createSkill,
  deleteSkill,
  listSkills,
  retrieveSkill,
  updateSkill,
} from './resources/skills/handlers.ts'

export const operations: readonly Endpoint[] = [
  route('PATCH /v1/pins/{resourceType}/{resourceId}', updatePin),
  route('POST /v1/projects/{projectId}/schedules', createProjectSchedule),
  route('POST /v1/agents/{agentId}/schedules', createAgentSchedule),
  route('GET /v1/sessions/{sessionId}/files', listSessionFiles),
  route('GET /v1/skills/{skillId}', retrieveSkill),
  route('DELETE /v1/users/{userId}/profile-picture', deleteProfilePicture),
  route('DELETE /v1/projects/{projectId}/environment-variables/{key}', deleteEnvironmentVariable),

  route('GET /v1/me', retrieveMe),

  route('POST /v1/api-keys', createApiKey),
  route('GET /v1/api-keys', listApiKeys),
  route('DELETE /v1/api-keys/{apiKeyId}', deleteApiKey),
  route('POST /v1/api-keys/{apiKeyId}/rotate', rotateApiKey),

  route('GET /v1/audit-events', listAuditEvents),

  route('PUT /v1/projects/{projectId}', projects.put),
  route('GET /v1/projects/{projectId}', projects.retrieve),
  route('GET /v1/projects', projects.list),
  route('PATCH /v1/projects/{projectId}', projects.update),
  route('DELETE /v1/projects/{projectId}', projects.remove),

  route('PUT /v1/agents/{agentId}', agents.put),
  route('GET /v1/agents/{agentId}', agents.retrieve),
  route('GET /v1/agents', agents.list),
  route('PATCH /v1/agents/{agentId}', agents.update),
  route('DELETE /v1/agents/{agentId}', agents.remove),

  route('PUT /v1/sessions/{sessionId}', sessions.put),
  route('GET /v1/sessions/{sessionId}', sessions.retrieve),
  route('GET /v1/sessions', sessions.list),
  route('DELETE /v1/sessions/{sessionId}', sessions.remove),

  route('PUT /v1/pull-requests/{pullRequestId}', pullRequests.put),
  route('GET /v1/pull-requests/{pullRequestId}', pullRequests.retrieve),
  route('GET /v1/pull-requests', pullRequests.list),
  route('DELETE /v1/pull-requests/{pullRequestId}', pullRequests.remove),

  route('PUT /v1/users/{userId}', users.put),
  route('GET /v1/users/{userId}', users.retrieve),
  route('GET /v1/users', users.list),
  route('DELETE /v1/users/{userId}', users.remove),

  route('GET /v1/pins', listPins),
  route('PUT /v1/pins/{resourceType}/{resourceId}', putPin),
  route('DELETE /v1/pins/{resourceType}/{resourceId}', deletePin),

  route('GET /v1/projects/{projectId}/schedules', projectSchedules.list),
  route('GET /v1/projects/{projectId}/schedules/{scheduleId}', projectSchedules.retrieve),
  route('PATCH /v1/projects/{projectId}/schedules/{scheduleId}', projectSchedules.update),
  route('DELETE /v1/projects/{projectId}/schedules/{scheduleId}', projectSchedules.remove),
  route('GET /v1/agents/{agentId}/schedules', agentSchedules.list),
  route('GET /v1/agents/{agentId}/schedules/{scheduleId}', agentSchedules.retrieve),
  route('PATCH /v1/agents/{agentId}/schedules/{scheduleId}', agentSchedules.update),
  route('DELETE /v1/agents/{agentId}/schedules/{scheduleId}', agentSchedules.remove),
  route('GET /v1/schedule-preview', previewSchedule),

  route('GET /v1/projects/{projectId}/schedules/{scheduleId}/runs', projectScheduleRuns.list),
  route('POST /v1/projects/{projectId}/schedules/{scheduleId}/runs', projectScheduleRuns.create),
  route('GET /v1/agents/{agentId}/schedules/{scheduleId}/runs', agentScheduleRuns.list),
  route('POST /v1/agents/{agentId}/schedules/{scheduleId}/runs', agentScheduleRuns.create),
  route('GET /v1/runs', listRuns),
  route('GET /v1/runs/{runId}', retrieveRun),
  route('POST /v1/runs/{runId}/acknowledge', acknowledgeRun),

  route('PUT /v1/run-endpoint', putRunEndpoint),
  route('GET /v1/run-endpoint', retrieveRunEndpoint),
  route('POST /v1/run-endpoint/rotate', rotateRunEndpoint),
  route('DELETE /v1/run-endpoint', deleteRunEndpoint),

  route('PUT /v1/sessions/{sessionId}/files', putSessionFile),
  route('GET /v1/sessions/{sessionId}/files/{fileId}/content', retrieveSessionFileContent),
  route('DELETE /v1/sessions/{sessionId}/files/{fileId}', deleteSessionFile),

  route('GET /v1/skills', listSkills),
  route('POST /v1/skills', createSkill),
  route('PATCH /v1/skills/{skillId}', updateSkill),
  route('DELETE /v1/skills/{skillId}', deleteSkill),

  route('PUT /v1/users/{userId}/profile-picture', putProfilePicture),
  route('GET /v1/users/{userId}/profile-picture', retrieveProfilePicture),

  route('GET /v1/projects/{projectId}/environment-variables', listEnvironmentVariables),
  route('PUT /v1/projects/{projectId}/environment-variables/{key}', putEnvironmentVariable),
  route('POST /v1/projects/{projectId}/environment-variables', setEnvironmentVariables),
]

/** The list shows each route, and the type checker holds it to the contract, where it is written. */
function route<C extends Contract>(_route: `${C['method']} ${C['path']}`, endpoint: Endpoint<C>): Endpoint {
  return endpoint
}
