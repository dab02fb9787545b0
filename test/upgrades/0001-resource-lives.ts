/** Every resource has its whole life: it is changed and deleted through HTTP, and session files have contents. */
import { hashToken, mintToken } from '../../src/access/api-key.ts'
import { DELETED_SESSION, SECOND_AT_PATH, SECOND_OF_NAME } from './0000-initial.ts'
import {
  ACME,
  CHANGED,
  CHECKOUT,
  FAR_AHEAD,
  GLOBEX,
  type Row,
  type Rows,
  type SchemaVersion,
  uuid,
  WEBSITE,
  WRITTEN,
} from './schema-version.ts'

/** A project that was deleted a moment ago: what hung on it is still there, and the purge is to remove it. */
export const GONE = 'gone'
/** Its session, and the content of that session's file. */
export const OF_GONE = uuid(1302)
export const CONTENT_OF_GONE = `session-files/${ACME}/${uuid(1553)}`

export const ROTATED_TOKEN = mintToken()

const SCOPES = JSON.stringify(['projects:read', 'session-files:write', 'api-keys:write'])

/** Titles are names from now on. */
const named = ({ title = null, ...row }: Row): Row => ({ ...row, name: title })
/** Nothing had changed before there was a time of change. */
const withUpdatedAt = (row: Row): Row => ({ ...row, updatedAt: row.createdAt ?? null })

/** Deleted sessions move to the deletions. Of two files at a path, or two skills of a name, the later gets another. */
function becomes(rows: Rows): Rows {
  const { users = [], projects = [], agents = [], sessions = [], pullRequests = [] } = rows
  const { sessionFiles = [], skills = [] } = rows
  return {
    ...rows,
    users: users.map(withUpdatedAt),
    projects: projects.map(withUpdatedAt),
    agents: agents.map(withUpdatedAt),
    sessions: sessions
      .filter(({ id }) => id !== DELETED_SESSION)
      .map(named)
      .map(withUpdatedAt),
    pullRequests: pullRequests.map(named).map(withUpdatedAt),
    deletions: [
      {
        organizationId: ACME,
        resourceType: 'session',
        resourceId: DELETED_SESSION,
        projectId: WEBSITE,
        deletedAt: CHANGED,
      },
    ],
    sessionFiles: sessionFiles.map(({ path = null, ...file }) => ({
      ...file,
      path: file.id === SECOND_AT_PATH ? `src/app.ts.${SECOND_AT_PATH}` : path,
      objectKey: `session-files/${file.organizationId}/${file.id}`,
      sizeBytes: 0,
    })),
    skills: skills.map(({ name = null, ...skill }) => ({
      ...skill,
      name: skill.id === SECOND_OF_NAME ? 'release-notes-000000000602' : name,
    })),
  }
}

const times = { createdAt: WRITTEN, updatedAt: CHANGED }
const CONTENTS = {
  [`session-files/${ACME}/${uuid(1551)}`]: 'export const price = "5 €"\n',
  [`session-files/${ACME}/${uuid(1552)}`]: '',
  [CONTENT_OF_GONE]: 'Of a project that is deleted',
  [`session-files/${GLOBEX}/${uuid(1551)}`]: 'Of Globex',
}
const file = (organizationId: string, sessionId: string, id: number, path: string, object: number) => {
  const objectKey = `session-files/${organizationId}/${uuid(object)}`
  const sizeBytes = new TextEncoder().encode(CONTENTS[objectKey]).length
  return { organizationId, sessionId, id: uuid(id), path, objectKey, sizeBytes, ...times }
}

export const resourceLives: SchemaVersion = {
  migration: '0001_resource_lives.sql',
  becomes,

  rows: {
    users: [{ organizationId: ACME, id: 'linus', name: 'Renamed', ...times }],
    apiKeys: [
      {
        organizationId: ACME,
        id: uuid(1021),
        name: 'rotated',
        hash: hashToken(ROTATED_TOKEN),
        scopes: SCOPES,
        expiresAt: FAR_AHEAD,
        rotatedAt: CHANGED,
        createdAt: WRITTEN,
        idempotencyKey: 'create laptop',
      },
      {
        organizationId: ACME,
        id: uuid(1022),
        name: 'rotated',
        hash: hashToken(mintToken()),
        scopes: SCOPES,
        createdAt: CHANGED,
        idempotencyKey: `rotate ${uuid(1021)} laptop`,
      },
      // Of a user that was deleted.
      {
        organizationId: ACME,
        id: uuid(1023),
        name: 'laptop',
        hash: hashToken(mintToken()),
        scopes: SCOPES,
        userId: 'mallory',
        revokedAt: CHANGED,
        createdAt: WRITTEN,
      },
    ],
    projects: [{ organizationId: ACME, id: 'Docs', name: 'Renamed', archivedAt: CHANGED, ...times }],
    agents: [{ organizationId: ACME, id: uuid(1201), name: 'Renamed', archivedAt: null, ...times }],
    sessions: [
      { organizationId: ACME, id: uuid(1301), projectId: WEBSITE, name: 'With files', ...times },
      { organizationId: ACME, id: OF_GONE, projectId: GONE, name: 'Of what is deleted', ...times },
    ],
    pullRequests: [
      { organizationId: ACME, id: uuid(1351), projectId: GONE, name: 'Of what is deleted', ...times },
      { organizationId: ACME, id: uuid(1352), projectId: WEBSITE, name: 'Renamed', ...times },
    ],
    deletions: [
      { organizationId: ACME, resourceType: 'project', resourceId: GONE, deletedAt: CHANGED },
      { organizationId: ACME, resourceType: 'user', resourceId: 'mallory', deletedAt: CHANGED },
      {
        organizationId: ACME,
        resourceType: 'session',
        resourceId: uuid(1303),
        projectId: WEBSITE,
        deletedAt: WRITTEN,
        purgedAt: CHANGED,
      },
    ],
    pins: [
      {
        organizationId: ACME,
        userId: 'ada',
        resourceType: 'session',
        resourceId: OF_GONE,
        position: 0,
        createdAt: WRITTEN,
      },
    ],
    schedules: [
      {
        organizationId: ACME,
        parentType: 'project',
        parentId: GONE,
        id: uuid(1401),
        cron: '@hourly',
        timezone: 'UTC',
        enabledAt: WRITTEN,
        nextRunAt: '2026-03-29T10:00:00.000Z',
        ...times,
      },
    ],
    sessionFiles: [
      file(ACME, uuid(1301), 1501, 'src/price.ts', 1551),
      file(ACME, uuid(1301), 1502, 'src/empty.ts', 1552),
      file(ACME, OF_GONE, 1503, 'src/gone.ts', 1553),
      file(GLOBEX, CHECKOUT, 1501, 'src/price.ts', 1551),
    ],
    skills: [
      {
        organizationId: ACME,
        id: uuid(1601),
        name: 'changelogs',
        description: 'Writes changelogs.',
        revision: uuid(1602),
        ...times,
        idempotencyKey: 'changelogs-1',
        idempotencyFingerprint: 'cf98926a7d31cef3be7cebb9a7c07835cb80a8c350103608ba4572d262c8252b',
      },
    ],
    skillFiles: [
      {
        organizationId: ACME,
        skillId: uuid(1601),
        id: uuid(1611),
        filename: 'SKILL.md',
        content: '# Changelogs',
      },
    ],
    profilePictures: [
      {
        organizationId: ACME,
        userId: 'linus',
        uploadingObjectKey: `profile-pictures/${ACME}/${uuid(1701)}`,
        leaseExpiresAt: CHANGED,
        updatedAt: CHANGED,
      },
    ],
    variableRequests: [
      {
        organizationId: ACME,
        projectId: WEBSITE,
        idempotencyKey: 'import-1',
        idempotencyFingerprint: 'test.d56c35d17a669d376a3b7943e11e05861b4376d4bbaea3b0bf3d7dfc4cf9c317',
        createdAt: '2026-03-29T10:00:00.000Z',
      },
    ],
  },

  objects: CONTENTS,
}
