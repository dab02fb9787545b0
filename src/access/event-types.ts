/** What an event can be about (docs/events.md): its types, and the paths of its resources. */

/** An event has the time of its request as the first number that it can have: 1024 for each millisecond. */
export const SEQUENCES_PER_MS = 1024

/** Each type with what it means. The part before the dot is the type of the resource. */
export const EVENT_TYPES = {
  'agent.created': 'An agent was created.',
  'agent.updated': 'An agent was renamed.',
  'agent.archived': 'An agent was archived.',
  'agent.unarchived': 'An archived agent became active again.',
  'agent.deleted': 'An agent was deleted.',
  'agent.restored': 'An agent was restored after its deletion.',
  'api-key.created': 'An API key was created.',
  'api-key.rotated': 'An API key got a successor.',
  'api-key.revoked': 'An API key was revoked: deleted itself, or with its creator or its user.',
  'api-key.session-created': 'A session of an API key was created: somebody signed in.',
  'api-key.session-ended': 'A session of an API key ended: by itself, with its key, or by a later one.',
  'api-key.app-connected': 'A person connected an app, which works with a key of its own.',
  'api-key.app-disconnected': 'A connected app was disconnected: by itself, or with its person.',
  'deletion.purged': 'A deletion was made final: what was deleted cannot be restored any more.',
  'environment-variable.set': 'An environment variable was created or got a value.',
  'environment-variable.deleted': 'An environment variable was deleted.',
  'environment-variables.set': 'A request set several environment variables. `name` lists them.',
  'environment-variables.leased': 'A lease gave away the values of a project. `name` lists the variables.',
  'event-endpoint.created': 'An event endpoint was created.',
  'event-endpoint.updated': 'The settings of an event endpoint changed.',
  'event-endpoint.rotated': 'An event endpoint got a new secret.',
  'event-endpoint.rewound': 'An event endpoint went to another place in the events.',
  'event-endpoint.tested': 'An event endpoint was sent a test.',
  'event-endpoint.disabled': 'An event endpoint was disabled, by a request or because it failed.',
  'event-endpoint.deleted': 'An event endpoint was deleted.',
  'identity.created':
    'A person signed in for the first time. `name` is the e-mail address, or the ID at the identity provider.',
  'identity.updated': 'A person was given a role, or the rules decide again.',
  'identity.blocked': 'A person was blocked: they cannot sign in.',
  'identity.unblocked': 'A person may sign in again.',
  'identity.deleted': 'An identity was deleted: by a request, with its user, or with the key that linked it to a user.',
  'invitation.created': 'A person was invited. `name` is the e-mail address.',
  'invitation.accepted': 'A person accepted an invitation by a sign-in.',
  'invitation.deleted': 'An invitation was deleted: by a request, with its user, or with the key that created it.',
  'pin.created': 'A user pinned a resource.',
  'pin.placed': 'A user placed a pin before or after another.',
  'pin.deleted': 'A user unpinned a resource.',
  'profile-picture.set': 'A user got a profile picture.',
  'profile-picture.deleted': 'A profile picture was deleted.',
  'project.created': 'A project was created.',
  'project.updated': 'A project was renamed.',
  'project.archived': 'A project was archived.',
  'project.unarchived': 'An archived project became active again.',
  'project.deleted': 'A project was deleted.',
  'project.restored': 'A project was restored after its deletion.',
  'pull-request.created': 'A pull request was created.',
  'pull-request.updated': 'A pull request was renamed.',
  'pull-request.deleted': 'A pull request was deleted.',
  'pull-request.restored': 'A pull request was restored after its deletion.',
  'run.created': 'A request created a run. Runs that a schedule fires have no event.',
  'run.claimed': 'A worker claimed a run.',
  'run.acknowledged': 'A worker acknowledged a run.',
  'run.redelivered': 'A run is sent to the run endpoint again.',
  'run.succeeded': 'A worker completed a run with success.',
  'run.failed': 'A run failed: its work, its delivery, or by its time limit.',
  'run-endpoint.set': 'The run endpoint got a URL.',
  'run-endpoint.rotated': 'The run endpoint got a new secret.',
  'run-endpoint.deleted': 'The run endpoint was deleted, by a request or because it responded with 410.',
  'schedule.created': 'A schedule was created.',
  'schedule.updated': 'The settings of a schedule changed.',
  'schedule.paused': 'A schedule was paused, by a request or after failed runs.',
  'schedule.resumed': 'A paused schedule was enabled.',
  'schedule.deleted': 'A schedule was deleted.',
  'schedule.restored': 'A schedule was restored after its deletion.',
  'session.created': 'A session was created.',
  'session.updated': 'A session was renamed.',
  'session.deleted': 'A session was deleted.',
  'session.restored': 'A session was restored after its deletion.',
  'session-file.created': 'A session got a file. `name` is its path.',
  'session-file.updated': 'A session file got new content.',
  'session-file.deleted': 'A session file was deleted.',
  'sign-in-rule.created': 'A sign-in rule was created. `name` is its claim and value.',
  'sign-in-rule.updated': 'A sign-in rule changed.',
  'sign-in-rule.deleted': 'A sign-in rule was deleted, by a request or with the key that created it.',
  'skill.created': 'A skill was created.',
  'skill.updated': 'A skill got a new version.',
  'skill.published': 'An existing version of a skill became the current one.',
  'skill.deleted': 'A skill was deleted.',
  'skill.restored': 'A skill was restored after its deletion.',
  'skill-feed.created': 'A feed of skills was created.',
  'skill-feed.deleted': 'A feed of skills was deleted.',
  'user.created': 'A user was created.',
  'user.updated': 'A user was renamed.',
  'user.deleted': 'A user was deleted.',
  'user.restored': 'A user was restored after its deletion.',
} as const

export type EventType = keyof typeof EVENT_TYPES
/** The types of resources that have events with this verb. */
export type ResourceOf<Verb extends string> = EventType extends infer Type
  ? Type extends `${infer Resource}.${Verb}`
    ? Resource
    : never
  : never
export type EventResource = ResourceOf<string>

interface Named {
  readonly id: string
  /** What else its path names: the agent of a schedule, the session of a file, the type of what is pinned. */
  readonly parentId: string | null
  readonly projectId: string | null
}

const PATHS: Readonly<Record<EventResource, (resource: Named) => readonly (string | null)[]>> = {
  agent: ({ id }) => ['agents', id],
  'api-key': ({ id }) => ['api-keys', id],
  deletion: ({ id }) => ['deletions', id],
  'environment-variable': ({ id, projectId }) => ['projects', projectId, 'environment-variables', id],
  'environment-variables': ({ projectId }) => ['projects', projectId, 'environment-variables'],
  'event-endpoint': ({ id }) => ['event-endpoints', id],
  identity: ({ id }) => ['identities', id],
  invitation: ({ id }) => ['invitations', id],
  pin: ({ id, parentId }) => ['pins', parentId, id],
  'profile-picture': ({ id }) => ['users', id, 'profile-picture'],
  project: ({ id }) => ['projects', id],
  'pull-request': ({ id }) => ['pull-requests', id],
  run: ({ id }) => ['runs', id],
  'run-endpoint': () => ['run-endpoint'],
  schedule: ({ id, parentId, projectId }) =>
    projectId === null ? ['agents', parentId, 'schedules', id] : ['projects', projectId, 'schedules', id],
  session: ({ id }) => ['sessions', id],
  'session-file': ({ id, parentId }) => ['sessions', parentId, 'files', id],
  'sign-in-rule': ({ id }) => ['sign-in-rules', id],
  skill: ({ id }) => ['skills', id],
  'skill-feed': ({ id }) => ['skill-feeds', id],
  user: ({ id }) => ['users', id],
}

export function resourceOf(type: EventType): EventResource {
  return type.slice(0, type.indexOf('.')) as EventResource
}

/** The path of the resource of an event, from `/v1/`. */
export function pathOfResource(type: EventType, resource: Named): string {
  // After a rollback, there may be types of a later version.
  const segments = PATHS[resourceOf(type)]?.(resource) ?? []
  return `/v1/${segments.map((segment) => encodeURIComponent(segment ?? '')).join('/')}`
}
