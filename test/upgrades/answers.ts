/** What the service answers to whom it shows everything, said of rows of the newest schema. */
import type { Row, Rows } from './schema-version.ts'

/** @returns for each path of a GET the body of its answer, for a key of the organization that acts as the user. */
export function answersOf(organizationId: string, userId: string, rows: Rows): Record<string, unknown> {
  const all = (table: string) => (rows[table] ?? []).filter((row) => row.organizationId === organizationId)
  const isThere = (table: string, id: Row[string] = null) => all(table).some((row) => row.id === id)
  /** What hangs on a project that was deleted is gone. */
  const ofProjects = (table: string) => all(table).filter(({ projectId }) => isThere('projects', projectId))

  const pinnable: Record<string, Row[]> = {
    session: ofProjects('sessions'),
    pull_request: ofProjects('pullRequests'),
    project: all('projects'),
  }
  const pins = all('pins')
    .filter((pin) => pin.userId === userId)
    .sort((a, b) => Number(a.position) - Number(b.position))
    .flatMap((pin) => {
      const pinned = pinnable[String(pin.resourceType)]?.find(({ id }) => id === pin.resourceId)
      return pinned ? [{ ...pin, name: pinned.name ?? null }] : []
    })

  const ofProject = all('projects').flatMap(({ id }) => {
    const path = `/v1/projects/${encodeURIComponent(String(id))}`
    const schedules = all('schedules').filter(({ parentType, parentId }) => parentType === 'project' && parentId === id)
    const variables = all('environmentVariables').filter(({ projectId }) => projectId === id)
    return [
      [`${path}/schedules`, page(schedules.map(projectSchedule))],
      [`${path}/environment-variables`, page(pick(variables, 'key', 'createdAt', 'updatedAt'), 'key')],
      ...schedules.map((schedule) => [`${path}/schedules/${schedule.id}/runs`, runsOf(schedule)]),
    ]
  })
  const ofAgent = all('agents').flatMap(({ id }) => {
    const path = `/v1/agents/${id}`
    const schedules = all('schedules').filter(({ parentType, parentId }) => parentType === 'agent' && parentId === id)
    return [
      [`${path}/schedules`, page(schedules.map(agentSchedule))],
      ...schedules.map((schedule) => [`${path}/schedules/${schedule.id}/runs`, runsOf(schedule)]),
    ]
  })
  function named(row: Row) {
    const { name = null } = all('schedules').find(({ id }) => id === row.scheduleId) ?? {}
    return { ...run(row), scheduleName: name }
  }
  function runsOf({ id }: Row) {
    const { items } = page(
      all('runs')
        .filter(({ scheduleId }) => scheduleId === id)
        .map(named),
    )
    return { items: items.toReversed(), nextCursor: null }
  }
  const ofStatus = ['pending', 'delivered', 'succeeded', 'failed', 'skipped'].map((status) => {
    const { items, nextCursor } = page(
      all('runs')
        .filter((each) => each.status === status)
        .map(named),
    )
    return [`/v1/runs?status=${status}`, { items: status === 'pending' ? items : items.toReversed(), nextCursor }]
  })

  const ofSession = ofProjects('sessions').map(({ id }) => [
    `/v1/sessions/${id}/files`,
    page(
      pick(
        all('sessionFiles').filter(({ sessionId }) => sessionId === id),
        'id',
        'sessionId',
        'path',
        'createdAt',
        'updatedAt',
      ),
    ),
  ])

  const ofFile = all('sessionFiles')
    .filter(({ sessionId }) => ofProjects('sessions').some(({ id }) => id === sessionId))
    .map(({ contentType, ...file }) => [
      `/v1/sessions/${file.sessionId}/files/${file.id}`,
      {
        ...one(file, 'id', 'sessionId', 'path', 'createdAt', 'updatedAt', 'sizeBytes', 'sha256'),
        contentType: contentType ?? 'application/octet-stream',
      },
    ])

  const summaries = pick(all('skills'), 'id', 'name', 'description', 'createdAt', 'updatedAt')
  const ofSkill = summaries.map((skill) => {
    const { version } = all('skills').find(({ id }) => id === skill.id) ?? {}
    const isOfSkill = ({ skillId }: Row) => skillId === skill.id
    const current = all('skillVersions').find((row) => isOfSkill(row) && row.version === version)
    const contents = all('skillContents').filter(isOfSkill)
    const files = (JSON.parse(String(current?.files ?? '[]')) as Row[]).map(({ id, filename, sha256 }) => ({
      id,
      filename,
      content: contents.find((row) => row.sha256 === sha256)?.content,
    }))
    return [`/v1/skills/${skill.id}`, { ...skill, files }]
  })

  const [endpoint] = all('runEndpoints').map(({ previousExpiresAt = null, ...row }) => ({
    ...pick([row], 'url', 'createdAt', 'updatedAt')[0],
    previousSecretExpiresAt: previousExpiresAt,
  }))
  const eventEndpoints = all('eventEndpoints').map((row) => {
    const events = all('auditEvents').filter(
      ({ sequence, type, projectId }) =>
        Number(sequence) > Number(row.deliveredSequence) &&
        (!row.types || (JSON.parse(String(row.types)) as string[]).includes(String(type))) &&
        (!row.projectId || row.projectId === projectId),
    )
    return {
      ...one(row, 'id', 'url', 'format', 'projectId', 'note', 'failingSince', 'nextAttemptAt', 'disabledAt'),
      ...one(row, 'disabledReason', 'createdAt', 'updatedAt'),
      types: row.types ? JSON.parse(String(row.types)) : null,
      batch: row.batch === 1,
      cursor: Number(row.deliveredSequence).toString(36).padStart(11, '0'),
      behind: events.length,
      behindSince: events[0] ? new Date(Math.floor(Number(events[0].sequence) / 1024)).toISOString() : null,
      lastAttempts: JSON.parse(String(row.lastAttempts ?? '[]')),
      previousSecretExpiresAt: row.previousExpiresAt ?? null,
    }
  })
  const pathsOfEvents: Record<string, (event: Row) => string> = {
    'environment-variable.deleted': ({ projectId, resourceId }) =>
      `/v1/projects/${encodeURIComponent(String(projectId))}/environment-variables/${resourceId}`,
    'schedule.created': ({ projectId, resourceId }) => `/v1/projects/${projectId}/schedules/${resourceId}`,
    'run-endpoint.deleted': () => '/v1/run-endpoint',
    'schedule.paused': ({ parentId, resourceId }) => `/v1/agents/${parentId}/schedules/${resourceId}`,
  }
  const events = all('auditEvents').map(({ id, sequence, type, projectId = null, requestId = null, ...event }) => ({
    id,
    type,
    resource: {
      type: String(type).split('.')[0],
      id: event.resourceId,
      path: pathsOfEvents[String(type)]?.({ projectId, ...event }),
      name: event.resourceName ?? null,
    },
    projectId,
    actor: event.apiKeyId
      ? { apiKeyId: event.apiKeyId, apiKeyName: event.apiKeyName, userId: event.userId ?? null }
      : null,
    requestId,
    createdAt: new Date(Math.floor(Number(sequence) / 1024)).toISOString(),
  }))

  const list = (json: Row[string] = null) => (json === null ? null : JSON.parse(String(json)))
  const rules = all('signInRules').map((row) => ({
    ...one(row, 'id', 'issuer', 'claim', 'value', 'role', 'createdByKeyId', 'createdAt', 'updatedAt'),
    projectIds: list(row.projectIds),
  }))
  const invitations = all('invitations').map((row) => ({
    ...one(row, 'id', 'issuer', 'email', 'role', 'userId', 'createdByKeyId', 'createdAt', 'expiresAt'),
    ...one(row, 'acceptedAt', 'identityId'),
    projectIds: list(row.projectIds),
  }))
  const identities = all('identities').map((row) => ({
    ...one(row, 'id', 'issuer', 'subject', 'userId', 'email', 'role', 'blockedAt', 'lastSignInAt', 'createdAt'),
    userName: all('users').find(({ id }) => id === row.userId)?.name ?? null,
    projectIds: list(row.projectIds),
    ruleIds: list(row.ruleIds),
  }))

  return Object.fromEntries([
    ['/v1/users', page(pick(all('users'), 'id', 'name', 'createdAt', 'updatedAt'))],
    ['/v1/projects', page(pick(all('projects'), 'id', 'name', 'description', 'archivedAt', 'createdAt', 'updatedAt'))],
    ['/v1/agents', page(pick(all('agents'), 'id', 'name', 'description', 'archivedAt', 'createdAt', 'updatedAt'))],
    ...[
      ['/v1/sessions', 'sessions'],
      ['/v1/pull-requests', 'pullRequests'],
    ].map(([path, table = '']) => [
      path,
      page(pick(ofProjects(table), 'id', 'projectId', 'name', 'createdAt', 'updatedAt')),
    ]),
    ['/v1/pins', { items: pick(pins, 'resourceType', 'resourceId', 'name', 'createdAt'), nextCursor: null }],
    ...ofProject,
    ...ofAgent,
    ...ofStatus,
    ...ofSession,
    ...ofFile,
    ['/v1/skills', page(summaries)],
    ...ofSkill,
    ...(endpoint ? [['/v1/run-endpoint', endpoint]] : []),
    ['/v1/sign-in-rules', page(rules)],
    ['/v1/invitations', page(invitations)],
    ['/v1/identities', page(identities)],
    ['/v1/event-endpoints', { items: eventEndpoints, nextCursor: null }],
    ['/v1/audit-events', { items: events.toReversed(), nextCursor: null }],
  ])
}

/** What `GET /v1/api-keys` lists to a key that acts for no user. */
export function apiKeysOf(organizationId: string, { apiKeys = [] }: Rows): Row[] {
  const live = apiKeys.filter((key) => key.organizationId === organizationId && key.kind === 'key' && !key.revokedAt)
  const fields = [
    'id',
    'name',
    'kind',
    'scopes',
    'userId',
    'projectIds',
    'expiresAt',
    'rotatedAt',
    'lastUsedAt',
    'createdAt',
    'createdByKeyId',
    'identityId',
  ]
  const parsed = (list: Row[string] = null) => (list === null ? null : JSON.parse(String(list)))
  return page(pick(live, ...fields)).items.map((key) => ({
    ...key,
    scopes: parsed(key.scopes),
    projectIds: parsed(key.projectIds),
    app: null,
  }))
}

const SCHEDULE_FIELDS = [
  ...['id', 'name', 'cron', 'runAt', 'overlap', 'maxRunSeconds', 'pauseAfterFailures', 'note'],
  ...['enabledAt', 'lastRunAt', 'nextRunAt', 'createdAt', 'updatedAt', 'pausedReason'],
]

function projectSchedule(row: Row) {
  return { ...schedule(row), ...one(row, 'timezone'), projectId: row.parentId ?? null }
}

function agentSchedule(row: Row) {
  return { ...schedule(row), agentId: row.parentId ?? null }
}

function schedule(row: Row) {
  const { payload = null } = row
  return { ...one(row, ...SCHEDULE_FIELDS), payload: payload === null ? null : JSON.parse(String(payload)) }
}

function run(row: Row): Row {
  const { parentType, parentId = null } = row
  return {
    ...one(
      row,
      'id',
      'scheduleId',
      'scheduledAt',
      'status',
      'failure',
      'attempts',
      'lastError',
      'nextAttemptAt',
      'startedAt',
      'finishedAt',
      'message',
      'sessionId',
      'createdAt',
      'updatedAt',
    ),
    projectId: parentType === 'project' ? parentId : null,
    agentId: parentType === 'agent' ? parentId : null,
    lastAttempts: JSON.parse(String(row.lastAttempts ?? '[]')),
    claim:
      row.status === 'delivered' && row.claimedBy
        ? { ...JSON.parse(String(row.claimedBy)), leaseExpiresAt: row.checkAt }
        : null,
  }
}

/** The columns of a row: what it leaves out is null. */
function one(row: Row, ...fields: readonly string[]): Row {
  return Object.fromEntries(fields.map((field) => [field, row[field] ?? null]))
}

function pick(rows: readonly Row[], ...fields: readonly string[]): Row[] {
  return rows.map((row) => one(row, ...fields))
}

/** The only page, in order. */
function page(rows: readonly Row[], order = 'id') {
  const items = rows.toSorted((a, b) => (String(a[order]) < String(b[order]) ? -1 : 1))
  return { items, nextCursor: null }
}
