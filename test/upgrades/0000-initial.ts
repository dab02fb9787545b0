/** The first service: the seven operations. Its operators brought everything else, and it sealed these texts itself. */
import { hashToken, mintToken } from '../../src/access/api-key.ts'
import {
  ACME,
  asTheyAre,
  CHANGED,
  CHECKOUT,
  EMPTY,
  FAR_AHEAD,
  GLOBEX,
  HOURLY,
  ICONS,
  LEGACY,
  MOBILE,
  RETIRED,
  REVIEWER,
  type SchemaVersion,
  uuid,
  WEBSITE,
  WRITTEN,
} from './schema-version.ts'

export const DELETED_SESSION = uuid(304)
export const SECOND_AT_PATH = uuid(503)
export const SECOND_OF_NAME = uuid(602)

const SCOPES = [
  'pins:write',
  'schedules:write',
  'session-files:read',
  'skills:read',
  'profile-picture:write',
  'environment-variables:write',
]

export const TOKENS = {
  ada: mintToken(),
  limited: mintToken(),
  powerless: mintToken(),
  expired: mintToken(),
  revoked: mintToken(),
  globex: mintToken(),
}

const key = (organizationId: string, id: number, token: string, values: object) => ({
  organizationId,
  id: uuid(id),
  name: 'laptop',
  hash: hashToken(token),
  scopes: JSON.stringify(SCOPES),
  createdAt: WRITTEN,
  ...values,
})

/** With their values, opened. */
export const VARIABLES = [
  {
    organizationId: ACME,
    projectId: WEBSITE,
    key: 'DATABASE_URL',
    value: 'postgres://checkout:example@db.internal/shop',
    sealedValue:
      'v1.test.MutyL1d24BuW0Y6Q.Yxcfgztj6EXjl5rOJHBV2PHe0_o4Wjp4uO9MMOpU06ZTcMDNIuJxqsthsQE071JTDicHmPv9mYHz0FJt',
  },
  {
    organizationId: ACME,
    projectId: WEBSITE,
    key: 'EMPTY',
    value: '',
    sealedValue: 'v1.test.YiZQwL1BepPsi_Nx.AP2G0pJsbzQttrc-adO56g',
  },
  {
    organizationId: ACME,
    projectId: MOBILE,
    key: 'GREETING',
    value: '  schön 日本 \u{1f511}\r\n',
    sealedValue: 'v1.test.bJ_6Y55JwyJBxsVG.9HPRdMKgV6vG1SQ--boDrSgqdsUbeJkIivjGARFG8g7TuCR-nbs',
  },
  {
    organizationId: GLOBEX,
    projectId: MOBILE,
    key: 'GREETING',
    value: 'of Globex',
    sealedValue: 'v1.test.3uVJuUuhUQI1CAI9.zHub9uJS5GQ_On-qaKKOGZiKNmt8gl9MIA',
  },
]

const PICTURE = `profile-pictures/${ACME}/${uuid(701)}`
const PICTURE_OF_GLOBEX = `profile-pictures/${GLOBEX}/${uuid(702)}`
export const REPLACED_PICTURE = `profile-pictures/${ACME}/${uuid(703)}`
export const UPLOADING_PICTURE = `profile-pictures/${ACME}/${uuid(704)}`

const times = { createdAt: WRITTEN, updatedAt: CHANGED }
const enabled = { enabledAt: WRITTEN, ...times }

export const initial: SchemaVersion = {
  migration: '0000_initial.sql',
  becomes: asTheyAre,

  rows: {
    organizations: [
      { id: ACME, name: 'Acme', createdAt: WRITTEN },
      { id: GLOBEX, name: 'Globex "& Söhne"', createdAt: WRITTEN },
      { id: EMPTY, name: '', createdAt: CHANGED },
    ],
    users: [
      { organizationId: ACME, id: 'ada', name: 'Ada Lovelace', createdAt: WRITTEN },
      { organizationId: ACME, id: uuid(11), name: '', createdAt: CHANGED },
      { organizationId: ACME, id: 'Grace.Hopper+1@navy.example', name: 'Grace 🚢', createdAt: WRITTEN },
      { organizationId: GLOBEX, id: 'ada', name: 'Another Ada', createdAt: WRITTEN },
    ],
    apiKeys: [
      key(ACME, 21, TOKENS.ada, { userId: 'ada', lastUsedAt: CHANGED }),
      key(ACME, 22, TOKENS.limited, {
        userId: null,
        projectIds: JSON.stringify([MOBILE]),
        expiresAt: FAR_AHEAD,
      }),
      key(ACME, 23, TOKENS.powerless, { scopes: '[]', projectIds: '[]', name: '' }),
      key(ACME, 24, TOKENS.expired, { userId: 'ada', expiresAt: '2020-01-01T00:00:00.000Z' }),
      key(ACME, 25, TOKENS.revoked, { userId: 'ada', revokedAt: CHANGED }),
      key(GLOBEX, 21, TOKENS.globex, { userId: 'ada' }),
    ],
    projects: [
      { organizationId: ACME, id: WEBSITE, name: 'Website', archivedAt: null, createdAt: WRITTEN },
      { organizationId: ACME, id: MOBILE, name: 'Mobile app', archivedAt: null, createdAt: CHANGED },
      { organizationId: ACME, id: LEGACY, name: '', archivedAt: CHANGED, createdAt: WRITTEN },
      { organizationId: GLOBEX, id: MOBILE, name: 'Intranet', archivedAt: null, createdAt: WRITTEN },
    ],
    agents: [
      { organizationId: ACME, id: REVIEWER, name: 'Reviewer', archivedAt: null, createdAt: WRITTEN },
      { organizationId: ACME, id: RETIRED, name: 'Retired', archivedAt: CHANGED, createdAt: WRITTEN },
      { organizationId: GLOBEX, id: REVIEWER, name: 'Librarian', archivedAt: null, createdAt: WRITTEN },
    ],
    sessions: [
      session(ACME, CHECKOUT, WEBSITE, { title: 'Rebuild the checkout' }),
      session(ACME, ICONS, MOBILE, { title: '' }),
      session(ACME, uuid(303), LEGACY, { title: 'Archive the wiki' }),
      session(ACME, DELETED_SESSION, WEBSITE, { title: 'A mistake', deletedAt: CHANGED }),
      session(GLOBEX, CHECKOUT, MOBILE, { title: 'Of Globex' }),
    ],
    pullRequests: [
      pullRequest(ACME, uuid(351), WEBSITE, 'Accept "Apple Pay"'),
      pullRequest(ACME, uuid(352), LEGACY, ''),
      pullRequest(GLOBEX, uuid(351), MOBILE, 'Of Globex'),
    ],
    // The order of positions is not that of ids, nor that of creation.
    pins: [
      pin(ACME, 'ada', 'session', CHECKOUT, 2),
      pin(ACME, 'ada', 'project', WEBSITE, 1),
      pin(ACME, 'ada', 'session', ICONS, 2 ** 40),
      pin(ACME, 'ada', 'session', DELETED_SESSION, 3),
      pin(ACME, 'ada', 'pull_request', uuid(351), -(2 ** 30)),
      pin(ACME, 'Grace.Hopper+1@navy.example', 'project', WEBSITE, 2 ** 30),
      pin(GLOBEX, 'ada', 'session', CHECKOUT, 2 ** 30),
    ],
    schedules: [
      schedule(ACME, 'project', WEBSITE, HOURLY, {
        cron: '0 * * * *',
        ...enabled,
        nextRunAt: '2026-03-29T08:00:00.000Z',
        idempotencyKey: 'hourly "1" – é',
        idempotencyFingerprint: '0660a0e6a40972e34ec38adc7b0927a2b4ed6c56f9f0e39e7b04534a3ff43269',
      }),
      schedule(ACME, 'project', MOBILE, uuid(402), {
        cron: '30 9 * * *',
        timezone: 'Europe/Paris',
        ...enabled,
        nextRunAt: '2025-01-02T08:30:00.000Z',
      }),
      schedule(ACME, 'project', LEGACY, uuid(403), {
        cron: '0 6 * * *',
        timezone: 'Asia/Kathmandu',
        ...enabled,
        nextRunAt: '2026-03-29T00:15:00.000Z',
      }),
      schedule(ACME, 'project', WEBSITE, uuid(404), { cron: '@daily', ...times, lastRunAt: CHANGED }),
      schedule(ACME, 'agent', REVIEWER, uuid(411), {
        cron: '@yearly',
        ...enabled,
        nextRunAt: '2027-01-01T00:00:00.000Z',
      }),
      schedule(ACME, 'agent', REVIEWER, uuid(412), {
        cron: '0 12 * * sun',
        ...enabled,
        nextRunAt: '2026-03-29T12:00:00.000Z',
      }),
      schedule(GLOBEX, 'project', MOBILE, HOURLY, {
        cron: '0 * * * *',
        ...enabled,
        nextRunAt: '2026-03-29T12:00:00.000Z',
      }),
    ],
    sessionFiles: [
      file(ACME, CHECKOUT, uuid(501), 'src/app.ts'),
      file(ACME, CHECKOUT, uuid(502), 'docs/ü \u{1f550}/"a".md'),
      file(ACME, CHECKOUT, SECOND_AT_PATH, 'src/app.ts'),
      file(ACME, uuid(303), uuid(504), 'src/app.ts'),
      file(ACME, DELETED_SESSION, uuid(505), 'notes.md'),
      file(GLOBEX, CHECKOUT, uuid(501), 'src/app.ts'),
    ],
    skills: [
      skill(ACME, uuid(601), 'release-notes'),
      skill(ACME, SECOND_OF_NAME, 'release-notes'),
      skill(ACME, uuid(603), 'without-files'),
      skill(GLOBEX, uuid(601), 'release-notes'),
    ],
    skillFiles: [
      skillFile(ACME, 601, 611, 'SKILL.md', '---\r\nname: release-notes\r\n---\r\n# Notes\t"ü"\n'),
      skillFile(ACME, 601, 612, 'a/empty.txt', ''),
      skillFile(ACME, 601, 613, 'Z.md', '\u{1f4dd}'),
      skillFile(ACME, 602, 614, 'SKILL.md', 'The second'),
      skillFile(GLOBEX, 601, 611, 'SKILL.md', 'Of Globex'),
    ],
    profilePictures: [
      {
        organizationId: ACME,
        userId: 'ada',
        objectKey: PICTURE,
        contentType: 'image/png',
        updatedAt: WRITTEN,
      },
      { organizationId: ACME, userId: uuid(11), leaseExpiresAt: WRITTEN, updatedAt: WRITTEN },
      {
        organizationId: GLOBEX,
        userId: 'ada',
        objectKey: PICTURE_OF_GLOBEX,
        contentType: 'image/webp',
        leaseExpiresAt: WRITTEN,
        updatedAt: CHANGED,
      },
    ],
    orphanedObjects: [
      { objectKey: REPLACED_PICTURE, deleteAfter: CHANGED },
      { objectKey: UPLOADING_PICTURE, deleteAfter: FAR_AHEAD },
    ],
    environmentVariables: VARIABLES.map(({ value, ...row }) => ({ ...row, ...times })),
  },

  objects: {
    [PICTURE]: "Ada's picture",
    [PICTURE_OF_GLOBEX]: 'A picture of Globex',
    [REPLACED_PICTURE]: 'The picture before',
  },
}

function session(organizationId: string, id: string, projectId: string, values: object) {
  return { organizationId, id, projectId, createdAt: WRITTEN, ...values }
}

function pullRequest(organizationId: string, id: string, projectId: string, title: string) {
  return { organizationId, id, projectId, title, createdAt: WRITTEN }
}

function pin(
  organizationId: string,
  userId: string,
  resourceType: string,
  resourceId: string,
  position: number,
) {
  return { organizationId, userId, resourceType, resourceId, position, createdAt: WRITTEN }
}

function schedule(
  organizationId: string,
  parentType: 'project' | 'agent',
  parentId: string,
  id: string,
  values: object,
) {
  return { organizationId, parentType, parentId, id, timezone: 'UTC', ...values }
}

function file(organizationId: string, sessionId: string, id: string, path: string) {
  return { organizationId, sessionId, id, path, createdAt: WRITTEN, updatedAt: CHANGED }
}

function skill(organizationId: string, id: string, name: string) {
  return { organizationId, id, name, description: '', revision: uuid(699), ...times }
}

function skillFile(
  organizationId: string,
  skillNumber: number,
  number: number,
  filename: string,
  content: string,
) {
  return { organizationId, skillId: uuid(skillNumber), id: uuid(number), filename, content }
}
