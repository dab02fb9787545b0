/** THE LIST: every operation of the service, in the order of SPEC.txt. Path and method are checked against the contract. */
import { deleteEnvironmentVariable } from './environment-variables/handlers.ts'
import type { Contract, Endpoint } from './http/endpoint.ts'
import { updatePin } from './pins/handlers.ts'
import { deleteProfilePicture } from './profile-pictures/handlers.ts'
import { createAgentSchedule, createProjectSchedule } from './schedules/handlers.ts'
import { listSessionFiles } from './session-files/handlers.ts'
import { retrieveSkill } from './skills/handlers.ts'

export const operations: readonly Endpoint[] = [
  route('PATCH /v1/pins/{resourceType}/{resourceId}', updatePin),
  route('POST /v1/projects/{projectId}/schedules', createProjectSchedule),
  route('POST /v1/agents/{agentId}/schedules', createAgentSchedule),
  route('GET /v1/sessions/{sessionId}/files', listSessionFiles),
  route('GET /v1/skills/{skillId}', retrieveSkill),
  route('DELETE /v1/users/{userId}/profile-picture', deleteProfilePicture),
  route('DELETE /v1/projects/{projectId}/environment-variables/{key}', deleteEnvironmentVariable),
]

/** The list shows each route, and the type checker holds it to the contract, where it is written. */
function route<C extends Contract>(_route: `${C['method']} ${C['path']}`, endpoint: Endpoint<C>): Endpoint {
  return endpoint
}
