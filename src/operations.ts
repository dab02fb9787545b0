/**
 * Every operation of the service. The seven documented ones come first. The code of a resource is loaded on
 * the first request to one of its operations, so that no start-up waits for it.
 */
import type { Contract } from './http/contract.ts'
import type { Endpoint } from './http/endpoint.ts'
import type { Operation } from './http/mount.ts'

const agents = () => import('./resources/platform-resources/agents.ts')
const apiKeys = () => import('./resources/api-keys/handlers.ts')
const events = () => import('./resources/events/handlers.ts')
const variables = () => import('./resources/environment-variables/handlers.ts')
const deletions = () => import('./resources/deletions/handlers.ts')
const me = () => import('./resources/me/handlers.ts')
const pins = () => import('./resources/pins/handlers.ts')
const pictures = () => import('./resources/profile-pictures/handlers.ts')
const projects = () => import('./resources/platform-resources/projects.ts')
const pullRequests = () => import('./resources/platform-resources/pull-requests.ts')
const runEndpoint = () => import('./resources/work/run-endpoint/handlers.ts')
const runs = () => import('./resources/work/runs/handlers.ts')
const schedules = () => import('./resources/work/schedules/handlers.ts')
const eventEndpoints = () => import('./resources/events/endpoints/handlers.ts')
const files = () => import('./resources/session-files/handlers.ts')
const signInRules = () => import('./resources/sign-in-rules/handlers.ts')
const identities = () => import('./resources/identities/handlers.ts')
const invitations = () => import('./resources/invitations/handlers.ts')
const sessions = () => import('./resources/platform-resources/sessions.ts')
const skills = () => import('./resources/skills/handlers.ts')
const skillFeeds = () => import('./resources/skill-feeds/handlers.ts')
const users = () => import('./resources/platform-resources/users.ts')

export const operations: readonly Operation[] = [
  route('PATCH /v1/pins/{resourceType}/{resourceId}', pins, (m) => m.updatePin),
  route('POST /v1/projects/{projectId}/schedules', schedules, (m) => m.createProjectSchedule),
  route('POST /v1/agents/{agentId}/schedules', schedules, (m) => m.createAgentSchedule),
  route('GET /v1/sessions/{sessionId}/files', files, (m) => m.listSessionFiles),
  route('GET /v1/skills/{skillId}', skills, (m) => m.retrieveSkill),
  route('DELETE /v1/users/{userId}/profile-picture', pictures, (m) => m.deleteProfilePicture),
  route('DELETE /v1/projects/{projectId}/environment-variables/{key}', variables, (m) => m.deleteEnvironmentVariable),

  route('GET /v1/me', me, (m) => m.retrieveMe),
  route('POST /v1/me/sessions', apiKeys, (m) => m.createApiKeySession),
  route('DELETE /v1/me/sessions', apiKeys, (m) => m.deleteOwnSessions),
  route('DELETE /v1/me/api-key', apiKeys, (m) => m.deleteOwnApiKey),
  route('DELETE /v1/me/apps/{apiKeyId}', apiKeys, (m) => m.deleteOwnApp),

  route('POST /v1/api-keys', apiKeys, (m) => m.createApiKey),
  route('GET /v1/api-keys', apiKeys, (m) => m.listApiKeys),
  route('DELETE /v1/api-keys/{apiKeyId}', apiKeys, (m) => m.deleteApiKey),
  route('POST /v1/api-keys/{apiKeyId}/rotate', apiKeys, (m) => m.rotateApiKey),

  route('POST /v1/sign-in-rules', signInRules, (m) => m.createSignInRule),
  route('GET /v1/sign-in-rules', signInRules, (m) => m.listSignInRules),
  route('POST /v1/sign-in-rules/preview', signInRules, (m) => m.previewSignIn),
  route('GET /v1/sign-in-rules/{signInRuleId}', signInRules, (m) => m.retrieveSignInRule),
  route('PATCH /v1/sign-in-rules/{signInRuleId}', signInRules, (m) => m.updateSignInRule),
  route('DELETE /v1/sign-in-rules/{signInRuleId}', signInRules, (m) => m.deleteSignInRule),
  route('POST /v1/invitations', invitations, (m) => m.createInvitation),
  route('GET /v1/invitations', invitations, (m) => m.listInvitations),
  route('DELETE /v1/invitations/{invitationId}', invitations, (m) => m.deleteInvitation),
  route('GET /v1/identities', identities, (m) => m.listIdentities),
  route('GET /v1/identities/{identityId}', identities, (m) => m.retrieveIdentity),
  route('PATCH /v1/identities/{identityId}', identities, (m) => m.updateIdentity),
  route('DELETE /v1/identities/{identityId}', identities, (m) => m.deleteIdentity),

  route('GET /v1/events', events, (m) => m.listEvents),
  route('GET /v1/audit-events', events, (m) => m.listAuditEvents),
  route('POST /v1/event-endpoints', eventEndpoints, (m) => m.createEventEndpoint),
  route('GET /v1/event-endpoints', eventEndpoints, (m) => m.listEventEndpoints),
  route('GET /v1/event-endpoints/{eventEndpointId}', eventEndpoints, (m) => m.retrieveEventEndpoint),
  route('PATCH /v1/event-endpoints/{eventEndpointId}', eventEndpoints, (m) => m.updateEventEndpoint),
  route('DELETE /v1/event-endpoints/{eventEndpointId}', eventEndpoints, (m) => m.deleteEventEndpoint),
  route('POST /v1/event-endpoints/{eventEndpointId}/rotate', eventEndpoints, (m) => m.rotateEventEndpoint),
  route('POST /v1/event-endpoints/{eventEndpointId}/test', eventEndpoints, (m) => m.testEventEndpoint),
  route('POST /v1/event-endpoints/{eventEndpointId}/rewind', eventEndpoints, (m) => m.rewindEventEndpoint),

  route('GET /v1/deletions', deletions, (m) => m.listDeletions),
  route('GET /v1/deletions/{deletionId}', deletions, (m) => m.retrieveDeletion),
  route('POST /v1/deletions/{deletionId}/restore', deletions, (m) => m.restoreDeletion),
  route('DELETE /v1/deletions/{deletionId}', deletions, (m) => m.purgeDeletion),

  route('GET /v1/projects', projects, (m) => m.list),
  route('PUT /v1/projects/{projectId}', projects, (m) => m.put),
  route('GET /v1/projects/{projectId}', projects, (m) => m.retrieve),
  route('PATCH /v1/projects/{projectId}', projects, (m) => m.update),
  route('DELETE /v1/projects/{projectId}', projects, (m) => m.remove),

  route('GET /v1/agents', agents, (m) => m.list),
  route('PUT /v1/agents/{agentId}', agents, (m) => m.put),
  route('GET /v1/agents/{agentId}', agents, (m) => m.retrieve),
  route('PATCH /v1/agents/{agentId}', agents, (m) => m.update),
  route('DELETE /v1/agents/{agentId}', agents, (m) => m.remove),

  route('GET /v1/sessions', sessions, (m) => m.list),
  route('PUT /v1/sessions/{sessionId}', sessions, (m) => m.put),
  route('GET /v1/sessions/{sessionId}', sessions, (m) => m.retrieve),
  route('DELETE /v1/sessions/{sessionId}', sessions, (m) => m.remove),

  route('GET /v1/pull-requests', pullRequests, (m) => m.list),
  route('PUT /v1/pull-requests/{pullRequestId}', pullRequests, (m) => m.put),
  route('GET /v1/pull-requests/{pullRequestId}', pullRequests, (m) => m.retrieve),
  route('DELETE /v1/pull-requests/{pullRequestId}', pullRequests, (m) => m.remove),

  route('GET /v1/users', users, (m) => m.list),
  route('PUT /v1/users/{userId}', users, (m) => m.put),
  route('GET /v1/users/{userId}', users, (m) => m.retrieve),
  route('DELETE /v1/users/{userId}', users, (m) => m.remove),

  route('GET /v1/pins', pins, (m) => m.listPins),
  route('PUT /v1/pins/{resourceType}/{resourceId}', pins, (m) => m.putPin),
  route('DELETE /v1/pins/{resourceType}/{resourceId}', pins, (m) => m.deletePin),

  route('GET /v1/projects/{projectId}/schedules', schedules, (m) => m.projectSchedules.list),
  route('GET /v1/projects/{projectId}/schedules/{scheduleId}', schedules, (m) => m.projectSchedules.retrieve),
  route('PUT /v1/projects/{projectId}/schedules/{scheduleId}', schedules, (m) => m.projectSchedules.put),
  route('PATCH /v1/projects/{projectId}/schedules/{scheduleId}', schedules, (m) => m.projectSchedules.update),
  route('DELETE /v1/projects/{projectId}/schedules/{scheduleId}', schedules, (m) => m.projectSchedules.remove),
  route('GET /v1/agents/{agentId}/schedules', schedules, (m) => m.agentSchedules.list),
  route('GET /v1/agents/{agentId}/schedules/{scheduleId}', schedules, (m) => m.agentSchedules.retrieve),
  route('PUT /v1/agents/{agentId}/schedules/{scheduleId}', schedules, (m) => m.agentSchedules.put),
  route('PATCH /v1/agents/{agentId}/schedules/{scheduleId}', schedules, (m) => m.agentSchedules.update),
  route('DELETE /v1/agents/{agentId}/schedules/{scheduleId}', schedules, (m) => m.agentSchedules.remove),
  route('GET /v1/schedules', schedules, (m) => m.listSchedules),
  route('GET /v1/schedule-preview', schedules, (m) => m.previewSchedule),

  route('GET /v1/projects/{projectId}/schedules/{scheduleId}/runs', runs, (m) => m.projectScheduleRuns.list),
  route('POST /v1/projects/{projectId}/schedules/{scheduleId}/runs', runs, (m) => m.projectScheduleRuns.create),
  route('GET /v1/agents/{agentId}/schedules/{scheduleId}/runs', runs, (m) => m.agentScheduleRuns.list),
  route('POST /v1/agents/{agentId}/schedules/{scheduleId}/runs', runs, (m) => m.agentScheduleRuns.create),
  route('GET /v1/runs', runs, (m) => m.listRuns),
  route('POST /v1/runs/claim', runs, (m) => m.claimRuns),
  route('GET /v1/runs/{runId}', runs, (m) => m.retrieveRun),
  route('POST /v1/runs/{runId}/acknowledge', runs, (m) => m.acknowledgeRun),
  route('POST /v1/runs/{runId}/redeliver', runs, (m) => m.redeliverRun),
  route('POST /v1/runs/{runId}/renew', runs, (m) => m.renewRun),
  route('POST /v1/runs/{runId}/complete', runs, (m) => m.completeRun),

  route('PUT /v1/run-endpoint', runEndpoint, (m) => m.putRunEndpoint),
  route('GET /v1/run-endpoint', runEndpoint, (m) => m.retrieveRunEndpoint),
  route('POST /v1/run-endpoint/rotate', runEndpoint, (m) => m.rotateRunEndpoint),
  route('DELETE /v1/run-endpoint', runEndpoint, (m) => m.deleteRunEndpoint),

  route('GET /v1/session-files', files, (m) => m.searchSessionFiles),
  route('PUT /v1/sessions/{sessionId}/files', files, (m) => m.putSessionFile),
  route('GET /v1/sessions/{sessionId}/files/{fileId}', files, (m) => m.retrieveSessionFile),
  route('GET /v1/sessions/{sessionId}/files/{fileId}/content', files, (m) => m.retrieveSessionFileContent),
  route('DELETE /v1/sessions/{sessionId}/files/{fileId}', files, (m) => m.deleteSessionFile),

  route('POST /v1/skills', skills, (m) => m.createSkill),
  route('GET /v1/skills', skills, (m) => m.listSkills),
  route('PATCH /v1/skills/{skillId}', skills, (m) => m.updateSkill),
  route('DELETE /v1/skills/{skillId}', skills, (m) => m.deleteSkill),
  route('GET /v1/skills/{skillId}/versions', skills, (m) => m.listSkillVersions),
  route('GET /v1/skills/{skillId}/versions/{version}', skills, (m) => m.retrieveSkillVersion),
  route('POST /v1/skills/{skillId}/publish', skills, (m) => m.publishSkillVersion),
  route('GET /v1/skills/{skillId}/archive', skills, (m) => m.retrieveSkillArchive),
  route('POST /v1/skill-feeds', skillFeeds, (m) => m.createSkillFeed),
  route('GET /v1/skill-feeds', skillFeeds, (m) => m.listSkillFeeds),
  route('DELETE /v1/skill-feeds/{feedId}', skillFeeds, (m) => m.deleteSkillFeed),

  route('PUT /v1/users/{userId}/profile-picture', pictures, (m) => m.putProfilePicture),
  route('GET /v1/users/{userId}/profile-picture', pictures, (m) => m.retrieveProfilePicture),

  route('GET /v1/projects/{projectId}/environment-variables', variables, (m) => m.listEnvironmentVariables),
  route('PUT /v1/projects/{projectId}/environment-variables/{key}', variables, (m) => m.putEnvironmentVariable),
  route('POST /v1/projects/{projectId}/environment-variables', variables, (m) => m.setEnvironmentVariables),
  route('POST /v1/projects/{projectId}/environment-variables/lease', variables, (m) => m.leaseEnvironmentVariables),
]

/** The list shows each route; test/access.test.ts holds it to the contract of its operation. */
function route<Module, C extends Contract>(
  route: `${C['method']} ${C['path']}`,
  load: () => Promise<Module>,
  pick: (module: Module) => Endpoint<C>,
): Operation {
  const [method, path] = route.split(' ') as [C['method'], C['path']]
  return { method, path, load: async () => pick(await load()) }
}

/** Every operation with its contract, for what needs all of them: the OpenAPI document and the tests. */
export function loadOperations(): Promise<Endpoint[]> {
  return Promise.all(operations.map((m) => m.load()))
}
