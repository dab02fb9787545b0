/** The first schema version. Its service wrote these sealed values, hashes and fingerprints. */

import { hash } from 'node:crypto'
import { computeRunId } from '../../src/resources/work/run-id.ts'
import { hashOf, newToken } from '../support/tokens.ts'
import {
  ACME,
  CHANGED,
  CHECKOUT,
  EMPTY,
  FAR_AHEAD,
  GLOBEX,
  GONE,
  HOURLY,
  ICONS,
  INITECH,
  LEGACY,
  MOBILE,
  RETIRED,
  REVIEWER,
  type SchemaVersion,
  uuid,
  WEBSITE,
  WRITTEN,
} from './schema-version.ts'

const revision = '7d1e4c70a3529b3f'
/** The passes after these are due after the tick of the tests. */
const PASSES_DUE = '2026-03-28T18:00:00.000Z'
const times = { createdAt: WRITTEN, updatedAt: CHANGED }
const enabled = { enabledAt: WRITTEN }

/** A session that was deleted, and the session of a deleted project. The purge has not removed their dependents yet. */
export const DELETED_SESSION = uuid(304)
export const SESSION_OF_GONE = uuid(305)

export const TOKENS = {
  ada: newToken(),
  limited: newToken(),
  powerless: newToken(),
  expired: newToken(),
  revoked: newToken(),
  rotated: newToken(),
  globex: newToken(),
}

/** The variables, with their decrypted values. */
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

/** The secrets that the receiver of Acme knows: the current and the previous one. */
export const SECRETS = [
  'whsec_Y2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2M=',
  'whsec_cHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHA=',
]

/** The session files, with their contents. */
const FILES = [
  file(ACME, CHECKOUT, 501, 'src/app.ts', 'export const price = "5 €"\n'),
  file(ACME, CHECKOUT, 502, 'docs/ü \u{1f550}/"a".md', '# A'),
  file(ACME, CHECKOUT, 503, 'src/empty.ts', ''),
  file(ACME, ICONS, 504, 'build.log', 'done\n', 'text/plain; charset="utf-8"'),
  file(ACME, uuid(303), 505, 'src/app.ts', 'Of an archived project'),
  file(ACME, DELETED_SESSION, 506, 'notes.md', 'Of a deleted session'),
  file(ACME, SESSION_OF_GONE, 507, 'src/gone.ts', 'Of a deleted project'),
  file(GLOBEX, CHECKOUT, 501, 'src/app.ts', 'Of Globex'),
]

const RELEASE_NOTES = {
  'SKILL.md': [611, '---\r\nname: release-notes\r\n---\r\n# Notes\t"ü"\n'],
  'Z.md': [613, '\u{1f4dd}'],
  'a/empty.txt': [612, ''],
} as const

const SKILL_VERSIONS = [
  skillVersion(ACME, 601, 1, 'release-notes', RELEASE_NOTES),
  skillVersion(ACME, 601, 2, 'release-notes', { 'Z.md': RELEASE_NOTES['Z.md'] }),
  skillVersion(ACME, 602, 1, 'review', { 'SKILL.md': [614, 'The second'] }),
  skillVersion(ACME, 603, 1, 'without-files', {}),
  skillVersion(ACME, 604, 1, 'changelogs', { 'SKILL.md': [615, '# Changelogs'] }),
  skillVersion(GLOBEX, 601, 1, 'release-notes', { 'SKILL.md': [611, 'Of Globex'] }),
]

const PICTURE = `profile-pictures/${ACME}/${uuid(701)}`
const PICTURE_OF_GLOBEX = `profile-pictures/${GLOBEX}/${uuid(702)}`
export const REPLACED_PICTURE = `profile-pictures/${ACME}/${uuid(703)}`
export const UPLOADING_PICTURE = `profile-pictures/${ACME}/${uuid(704)}`

export const initial: SchemaVersion = {
  migration: '0000_initial.sql',

  rows: {
    organizations: [
      { id: ACME, name: 'Acme', createdAt: WRITTEN },
      { id: GLOBEX, name: 'Globex "& Söhne"', createdAt: WRITTEN },
      { id: INITECH, name: 'Initech', createdAt: WRITTEN },
      { id: EMPTY, name: '', createdAt: CHANGED },
      { id: uuid(5), name: 'Umbrella', createdAt: WRITTEN },
      { id: uuid(6), name: 'Stark', createdAt: WRITTEN },
    ],
    halts: [
      { organizationId: uuid(5), kind: 'left' },
      { organizationId: uuid(6), kind: 'suspended', until: CHANGED, reason: 'Not paid' },
    ],
    databases: [
      { number: 0, state: 'closed' },
      { number: 1, name: 'workspace-api-1', state: 'open' },
    ],
    directory: [
      { organizationId: ACME, database: 0 },
      { organizationId: GLOBEX, database: 0 },
      { organizationId: uuid(5), database: 1, movingTo: 2 },
    ],
    users: [
      resource(ACME, 'ada', 'Ada Lovelace'),
      resource(ACME, uuid(11), ''),
      resource(ACME, 'Grace.Hopper+1@navy.example', 'Grace 🚢'),
      resource(GLOBEX, 'ada', 'Another Ada'),
    ],
    apiKeys: [
      key(ACME, 21, TOKENS.ada, { userId: 'ada', lastUsedAt: CHANGED }),
      key(ACME, 22, TOKENS.limited, { projectIds: JSON.stringify([MOBILE]), expiresAt: FAR_AHEAD }),
      key(ACME, 23, TOKENS.powerless, { scopes: '[]', projectIds: '[]', name: '' }),
      key(ACME, 24, TOKENS.expired, { userId: 'ada', expiresAt: '2020-01-01T00:00:00.000Z' }),
      key(ACME, 25, TOKENS.revoked, { userId: 'ada', revokedAt: CHANGED }),
      key(ACME, 26, TOKENS.rotated, {
        scopes: JSON.stringify(['projects:read', 'session-files:write', 'api-keys:write']),
        expiresAt: FAR_AHEAD,
        rotatedAt: CHANGED,
        idempotencyKey: 'create laptop',
      }),
      key(ACME, 27, newToken(), { idempotencyKey: `rotate ${uuid(26)} laptop`, createdByKeyId: uuid(26) }),
      key(ACME, 99, newToken(), {
        kind: 'session',
        projectIds: JSON.stringify([MOBILE]),
        expiresAt: FAR_AHEAD,
        createdByKeyId: uuid(22),
      }),
      // The key of a deleted user.
      key(ACME, 28, newToken(), { userId: 'mallory', revokedAt: CHANGED }),
      key(ACME, 98, newToken(), {
        kind: 'grant',
        userId: 'ada',
        identityId: uuid(831),
        clientId: 'https://app.example.com/client.json',
        clientName: 'App – é',
        redirectHost: 'app.example.com',
        grantEndsAt: FAR_AHEAD,
        redeemedAt: CHANGED,
        expiresAt: FAR_AHEAD,
      }),
      key(GLOBEX, 21, TOKENS.globex, { userId: 'ada' }),
      key(uuid(5), 21, newToken(), { movedTo: 1 }),
      key(uuid(6), 21, newToken(), { suspendedAt: CHANGED }),
    ],
    projects: [
      resource(ACME, WEBSITE, 'Website', { description: 'Owned by the web team.' }),
      resource(ACME, MOBILE, 'Mobile app'),
      resource(ACME, LEGACY, '', { archivedAt: CHANGED }),
      resource(GLOBEX, MOBILE, 'Intranet'),
    ],
    agents: [
      resource(ACME, REVIEWER, 'Reviewer', { description: 'Reads every pull request.' }),
      resource(ACME, RETIRED, 'Retired', { archivedAt: CHANGED }),
      resource(GLOBEX, REVIEWER, 'Librarian'),
    ],
    sessions: [
      resource(ACME, CHECKOUT, 'Rebuild the checkout', { projectId: WEBSITE }),
      resource(ACME, ICONS, '', { projectId: MOBILE }),
      resource(ACME, uuid(303), 'Archive the wiki', { projectId: LEGACY }),
      resource(ACME, SESSION_OF_GONE, 'Of a deleted project', { projectId: GONE }),
      resource(GLOBEX, CHECKOUT, 'Of Globex', { projectId: MOBILE }),
    ],
    pullRequests: [
      resource(ACME, uuid(351), 'Accept "Apple Pay"', { projectId: WEBSITE }),
      resource(ACME, uuid(352), '', { projectId: LEGACY }),
      resource(ACME, uuid(353), 'Of a deleted project', { projectId: GONE }),
      resource(GLOBEX, uuid(351), 'Of Globex', { projectId: MOBILE }),
    ],
    deletions: [
      deletion('session', DELETED_SESSION, { projectId: WEBSITE }),
      deletion('project', GONE),
      deletion('user', 'mallory'),
      deletion('session', uuid(306), { projectId: WEBSITE, purgedAt: CHANGED }),
      deletion('schedule', uuid(498), {
        agentId: REVIEWER,
        finalAt: FAR_AHEAD,
        id: uuid(499),
        row: '{"id":"0195c2a4-0000-7000-8000-000000000498","parentType":"agent","cron":"0 6 * * *"}',
      }),
    ],
    // The order of positions is neither that of IDs nor that of creation.
    pins: [
      pin(ACME, 'ada', 'session', CHECKOUT, 2),
      pin(ACME, 'ada', 'project', WEBSITE, 1),
      pin(ACME, 'ada', 'session', ICONS, 2 ** 40),
      pin(ACME, 'ada', 'session', DELETED_SESSION, 3),
      pin(ACME, 'ada', 'session', SESSION_OF_GONE, 0),
      pin(ACME, 'ada', 'pull_request', uuid(351), -(2 ** 30)),
      pin(ACME, 'Grace.Hopper+1@navy.example', 'project', WEBSITE, 2 ** 30),
      pin(GLOBEX, 'ada', 'session', CHECKOUT, 2 ** 30),
    ],
    schedules: [
      schedule(ACME, 'project', WEBSITE, HOURLY, '0 * * * *', {
        ...enabled,
        nextRunAt: '2026-03-29T08:00:00.000Z',
        idempotencyKey: 'hourly "1" – é',
        idempotencyFingerprint: '0660a0e6a40972e34ec38adc7b0927a2b4ed6c56f9f0e39e7b04534a3ff43269',
      }),
      schedule(ACME, 'project', MOBILE, uuid(402), '30 9 * * *', {
        timezone: 'Europe/Paris',
        ...enabled,
        nextRunAt: '2025-01-02T08:30:00.000Z',
      }),
      schedule(ACME, 'project', LEGACY, uuid(403), '0 6 * * *', {
        timezone: 'Asia/Kathmandu',
        ...enabled,
        nextRunAt: '2026-03-29T00:15:00.000Z',
      }),
      schedule(ACME, 'project', WEBSITE, uuid(404), '@daily', {
        lastRunAt: CHANGED,
        name: 'Nightly – é',
        overlap: 'skip',
        maxRunSeconds: 3600,
        pauseAfterFailures: 3,
        note: 'Ask Ada.',
        payload: '{"branch":"main","depth":[1,2.5,null]}',
      }),
      schedule(ACME, 'project', WEBSITE, uuid(406), null, {
        ...enabled,
        runAt: '2026-03-29T09:00:00.000Z',
        nextRunAt: '2026-03-29T09:00:00.000Z',
      }),
      schedule(ACME, 'project', GONE, uuid(405), '@hourly', {
        ...enabled,
        nextRunAt: '2026-03-29T10:00:00.000Z',
      }),
      schedule(ACME, 'agent', REVIEWER, uuid(411), '@yearly', {
        ...enabled,
        nextRunAt: '2027-01-01T00:00:00.000Z',
      }),
      schedule(ACME, 'agent', REVIEWER, uuid(412), '0 12 * * sun', {
        ...enabled,
        nextRunAt: '2026-03-29T12:00:00.000Z',
      }),
      schedule(ACME, 'agent', REVIEWER, uuid(413), '*/5 * * * *', {
        lastRunAt: CHANGED,
        pausedReason: '20 runs in a row failed. The last failure (delivery): The status was 500.',
      }),
      schedule(GLOBEX, 'project', MOBILE, HOURLY, '0 * * * *', {
        ...enabled,
        nextRunAt: '2026-03-29T12:00:00.000Z',
      }),
    ],
    runs: [
      run(HOURLY, '2026-03-28T01:00:00.000Z', 'delivered', {
        attempts: 2,
        lastError: 'The status was 503.',
        startedAt: '2026-03-28T01:02:00.000Z',
        claimId: uuid(451),
        claimedBy: JSON.stringify({ apiKeyId: uuid(452), apiKeyName: 'Worker' }),
        checkAt: '2026-03-29T12:00:00.000Z',
      }),
      run(HOURLY, '2026-03-28T01:30:00.000Z', 'succeeded', {
        attempts: 1,
        startedAt: '2026-03-28T01:30:01.000Z',
        finishedAt: '2026-03-28T01:31:00.000Z',
        message: 'Built 14 pages.',
        sessionId: CHECKOUT,
      }),
      run(HOURLY, '2026-03-28T02:00:00.000Z', 'failed', {
        attempts: 6,
        failure: 'delivery',
        lastError: 'The status was 500.',
      }),
      run(HOURLY, '2026-03-28T03:00:00.000Z', 'skipped', { lastError: 'The run was missed.' }),
      run(HOURLY, '2026-03-28T04:00:00.000Z', 'pending', {
        attempts: 1,
        lastAttempts: JSON.stringify([
          { startedAt: '2026-03-28T04:10:00.000Z', status: null, milliseconds: 15_003, error: 'No response.' },
          { startedAt: '2026-03-28T04:00:01.000Z', status: 503, milliseconds: 87, error: 'The status was 503.' },
        ]),
        nextAttemptAt: '2026-03-28T04:15:00.000Z',
        redeliveredAt: '2026-03-28T04:09:00.000Z',
        checkAt: '2026-03-28T04:15:00.000Z',
      }),
      run(HOURLY, '2026-03-28T04:30:12.345Z', 'pending', { idempotencyKey: 'now-1' }),
      run(uuid(412), '2026-03-28T05:00:00.000Z', 'pending', { parentType: 'agent', parentId: REVIEWER }),
    ],
    missedSpans: [
      {
        organizationId: ACME,
        scheduleId: HOURLY,
        missedFrom: '2026-03-27T20:00:00.000Z',
        missedUntil: '2026-03-27T23:00:00.000Z',
        parentType: 'project',
        parentId: WEBSITE,
        cron: '0 * * * *',
        timezone: 'UTC',
      },
    ],
    passes: [
      { name: 'next runs', dueAt: PASSES_DUE, cursor: JSON.stringify([ACME, 'agent', REVIEWER, uuid(411)]) },
      { name: 'retention', dueAt: PASSES_DUE, cursor: '' },
    ],
    lastTick: [{ id: 1, scheduledAt: CHANGED }],
    tickReports: [{ database: 0, scheduledAt: CHANGED, failedCalls: 0 }],
    alerts: [
      { database: 0, name: 'size-70', begunAt: CHANGED, sentAt: CHANGED },
      { database: 0, name: 'dead-letters', begunAt: CHANGED, endsAt: CHANGED },
    ],
    eventUsage: [{ organizationId: ACME, countedTo: Number.MAX_SAFE_INTEGER, bytes: 100, removedTo: -1 }],
    auditEvents: [
      auditEvent(WRITTEN, 1, {
        type: 'environment-variable.deleted',
        resourceId: 'TOKEN',
        resourceName: 'TOKEN',
        projectId: MOBILE,
        apiKeyId: uuid(21),
        apiKeyName: 'laptop',
        userId: 'ada',
      }),
      auditEvent(CHANGED, 2, {
        type: 'schedule.created',
        resourceId: uuid(404),
        projectId: WEBSITE,
        apiKeyId: uuid(26),
        apiKeyName: 'ci',
      }),
      auditEvent(CHANGED, 3, { type: 'run-endpoint.deleted', resourceId: ACME, requestId: null }),
      auditEvent(CHANGED, 4, {
        type: 'schedule.paused',
        resourceId: uuid(411),
        resourceName: 'Nightly',
        parentId: REVIEWER,
        requestId: null,
      }),
    ],
    eventEndpoints: [
      {
        organizationId: ACME,
        id: uuid(801),
        format: 'standard',
        url: 'hooks.example.com…ents',
        sealedUrl: 'v1.test.lL8b0KG93Z7rSw38.ryNTDtYdEDMjGD4QPMPYUcdoWktenS4stAswQ5jxprDpeL3eXPQlfeVWtOgxmioJ',
        sealedSecret:
          'v1.test.QVlqXlqHNqKE8W9g.k8O6v7Tm9GBizdBl68fCl9s7OkXdTuw-0jrds-hdF0ygzb_-Ivn8QZffPzNghtepc7FAUfIJicZmcpJh45GIDVqt',
        previousSealedSecret:
          'v1.test.dg9GCw1L_YSh3LPt.oKukA5BLE4wSDq1vwpzzK-Q6euIL5txNqfnFULFo3Z3hp8SqwRE51lDOdwbcFJGNADghAQIz7usPc1LAwRuKhP4E',
        previousExpiresAt: FAR_AHEAD,
        types: '["skill.*","schedule.paused"]',
        projectId: MOBILE,
        note: 'For the cache – é',
        batch: 1,
        deliveredSequence: Date.parse(WRITTEN) * 1024,
        messageId: uuid(811),
        messageEnd: Date.parse(CHANGED) * 1024 + 2,
        leaseId: uuid(812),
        leaseExpiresAt: CHANGED,
        failures: 2,
        failingSince: WRITTEN,
        nextAttemptAt: FAR_AHEAD,
        lastAttempts: JSON.stringify([
          { startedAt: CHANGED, status: 503, milliseconds: 87, error: 'HTTP 503' },
          { startedAt: WRITTEN, status: null, milliseconds: 15_003, error: 'No response within 15 seconds.' },
        ]),
        ...times,
      },
      {
        organizationId: ACME,
        id: uuid(802),
        format: 'text',
        url: 'hooks.example.com…0/B0',
        sealedUrl: 'v1.test.oXyeMIWEO1c0sUI8.Lzq6AdUVJTJjkn3ObaeFuDxKst9-1aAbfLlEX7JXa_UpJauwiQwRwiIa9nA1jx_27vePpg',
        batch: 0,
        deliveredSequence: Date.parse(CHANGED) * 1024 + 2,
        failures: 0,
        disabledAt: CHANGED,
        disabledReason: 'A request disabled it.',
        ...times,
      },
    ],
    signInRules: [
      {
        organizationId: ACME,
        id: uuid(821),
        issuer: 'https://login.example.com',
        claim: 'groups',
        value: 'engineers – é',
        role: 'member',
        projectIds: JSON.stringify([WEBSITE]),
        createdByKeyId: uuid(26),
        revision,
        ...times,
      },
      {
        organizationId: ACME,
        id: uuid(822),
        issuer: 'https://login.example.com',
        claim: 'iss',
        value: 'https://login.example.com',
        role: 'viewer',
        revision,
        ...times,
      },
    ],
    identities: [
      {
        organizationId: ACME,
        id: uuid(831),
        issuer: 'https://login.example.com',
        subject: '00u1a2b3c4',
        userId: 'ada',
        email: 'ada@example.com',
        role: 'member',
        projectIds: JSON.stringify([WEBSITE]),
        ruleIds: JSON.stringify([uuid(821)]),
        lastSignInAt: CHANGED,
        createdAt: WRITTEN,
      },
      {
        organizationId: ACME,
        id: uuid(832),
        issuer: 'https://login.example.com',
        subject: '00u1a2b3c5',
        userId: 'ada',
        role: 'viewer',
        roleByKeyId: uuid(26),
        linkedByKeyId: uuid(26),
        blockedAt: CHANGED,
        createdAt: WRITTEN,
      },
    ],
    invitations: [
      {
        organizationId: ACME,
        id: uuid(841),
        issuer: 'https://login.example.com',
        email: 'grace@example.com',
        role: 'member',
        projectIds: JSON.stringify([WEBSITE]),
        userId: 'ada',
        createdByKeyId: uuid(26),
        createdAt: WRITTEN,
        expiresAt: FAR_AHEAD,
      },
      {
        organizationId: ACME,
        id: uuid(842),
        issuer: 'https://login.example.com',
        email: 'ada@example.com',
        role: 'viewer',
        createdAt: WRITTEN,
        expiresAt: FAR_AHEAD,
        acceptedAt: CHANGED,
        identityId: uuid(832),
      },
    ],
    runEndpoints: [
      {
        organizationId: ACME,
        url: 'https://hooks.example.com/acme',
        sealedSecret:
          'v1.test.nqtfXnrp23neSE4m.AcftA-6mDPL8l-9qW54pyVWaIX7frzqH7zrJEfYtH53z_vjaHkQB-VKaEb8wfYueXzzfDEkBiGU4LVhhMktJO6Ac',
        previousSealedSecret:
          'v1.test.yqx_MNwUacAHQehI.tqJj3L-avjtXKFXnrk_I8FyBKVYocyqwGPzr8pmB40Qxbw1mYE1LqapjOHKliRMSmIdc7FlW9571V4gfW0CUF8bo',
        previousExpiresAt: FAR_AHEAD,
        ...times,
      },
      {
        organizationId: GLOBEX,
        url: 'https://hooks.example.com/globex',
        sealedSecret:
          'v1.test.VaEtIy8ggOLadrnF.XcMXPKvwyiL9492unby-lfOZBa9h5JfVYWjoej3UUrLGbfx9a8EVfCHtwU3396Uy5Ae3QiJKm7SeJ3Lsh6h8ig0i',
        ...times,
      },
      {
        organizationId: INITECH,
        url: 'https://hooks.example.com/initech',
        sealedSecret:
          'v1.test.BrqKFZN1CmGE0KYp.6V7hzSNY48hN4ayb_kZLSmXwliXTQZPRMyZlRpSYzoIXd-RfPt15YlbcqFvS4qS868_x6bSkId0PPwFhR73xaxpQ',
        ...times,
        slowUntil: CHANGED,
      },
    ],
    sessionFiles: FILES.map(({ content, ...row }) => row),
    skills: [
      skill(ACME, 601, 'release-notes', { latestVersion: 2 }),
      skill(ACME, 602, 'review'),
      skill(ACME, 603, 'without-files'),
      skill(ACME, 604, 'changelogs', {
        description: 'Writes changelogs.',
        idempotencyKey: 'changelogs-1',
        idempotencyFingerprint: '58f73c9ec3bed5c37736db78b989d3a023fbd8bc329d264be5c38b6918b10af3',
      }),
      skill(GLOBEX, 601, 'release-notes'),
    ],
    skillVersions: SKILL_VERSIONS.map(({ contents, ...row }) => row),
    skillContents: SKILL_VERSIONS.flatMap(({ organizationId, skillId, version, contents }) =>
      // The second version has the contents of the first.
      version === 1
        ? contents.map((content) => ({ organizationId, skillId, sha256: hash('sha256', content), content }))
        : [],
    ),
    skillFeeds: [
      {
        organizationId: ACME,
        id: uuid(691),
        hash: hash('sha256', 'feed'),
        name: 'All skills',
        apiKeyId: uuid(21),
        createdAt: CHANGED,
      },
      {
        organizationId: ACME,
        id: uuid(692),
        hash: hash('sha256', 'pinned'),
        name: 'Pinned',
        skills: JSON.stringify([{ skillId: uuid(601), version: 1 }]),
        expiresAt: FAR_AHEAD,
        apiKeyId: uuid(21),
        createdAt: CHANGED,
      },
      {
        organizationId: uuid(5),
        id: uuid(693),
        hash: hash('sha256', 'moved'),
        name: 'Moved',
        apiKeyId: uuid(21),
        createdAt: CHANGED,
        movedTo: 1,
      },
    ],
    profilePictures: [
      {
        organizationId: ACME,
        userId: 'ada',
        objectKey: PICTURE,
        contentType: 'image/png',
        updatedAt: WRITTEN,
      },
      {
        organizationId: ACME,
        userId: uuid(11),
        uploadingObjectKey: UPLOADING_PICTURE,
        leaseExpiresAt: CHANGED,
        updatedAt: CHANGED,
      },
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
    objectSearches: [{ startedAt: WRITTEN, cursor: btoa('a') }, { startedAt: CHANGED }],
    environmentVariables: VARIABLES.map(({ value, ...row }) => ({ ...row, ...times })),
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

  objects: {
    ...Object.fromEntries(FILES.map(({ objectKey, content }) => [objectKey, content])),
    [PICTURE]: "Ada's picture",
    [PICTURE_OF_GLOBEX]: 'A picture of Globex',
    [REPLACED_PICTURE]: 'The picture before',
  },
}

function resource(organizationId: string, id: string, name: string, values: object = {}) {
  return { organizationId, id, name, ...times, revision, ...values }
}

function key(organizationId: string, id: number, token: string, values: object) {
  const scopes = [
    'pins:write',
    'schedules:write',
    'session-files:read',
    'skills:read',
    'profile-picture:write',
    'environment-variables:write',
  ]
  return {
    organizationId,
    id: uuid(id),
    name: 'laptop',
    kind: 'key',
    hash: hashOf(token),
    scopes: JSON.stringify(scopes),
    createdAt: WRITTEN,
    ...values,
  }
}

function deletion(resourceType: string, resourceId: string, values: object = {}) {
  return { organizationId: ACME, resourceType, resourceId, deletedAt: CHANGED, finalAt: CHANGED, ...values }
}

function pin(organizationId: string, userId: string, resourceType: string, resourceId: string, position: number) {
  return { organizationId, userId, resourceType, resourceId, position, createdAt: WRITTEN }
}

function schedule(
  organizationId: string,
  parentType: 'project' | 'agent',
  parentId: string,
  id: string,
  cron: string | null,
  values: object,
) {
  return {
    organizationId,
    parentType,
    parentId,
    id,
    cron,
    timezone: 'UTC',
    overlap: 'allow',
    ...times,
    revision,
    ...values,
  }
}

/** A run of Acme. */
function run(scheduleId: string, scheduledAt: string, status: string, values: object) {
  return {
    organizationId: ACME,
    scheduleId,
    scheduledAt,
    id: computeRunId(scheduleId, scheduledAt),
    parentType: 'project',
    parentId: WEBSITE,
    status,
    attempts: 0,
    createdAt: scheduledAt,
    updatedAt: CHANGED,
    ...values,
  }
}

function auditEvent(createdAt: string, number: number, values: object) {
  const sequence = Date.parse(createdAt) * 1024 + number
  return { organizationId: ACME, sequence, id: uuid(3000 + number), requestId: uuid(3100 + number), ...values }
}

function file(
  organizationId: string,
  sessionId: string,
  id: number,
  path: string,
  content: string,
  contentType: string | null = null,
) {
  return {
    organizationId,
    sessionId,
    id: uuid(id),
    path,
    objectKey: `session-files/${organizationId}/${uuid(id + 50)}`,
    sizeBytes: Buffer.byteLength(content),
    ...times,
    contentType,
    sha256: hash('sha256', content),
    content,
  }
}

function skill(organizationId: string, id: number, name: string, values: object = {}) {
  const versions = { version: 1, latestVersion: 1, revision: uuid(699) }
  return { organizationId, id: uuid(id), name, description: '', ...versions, ...times, ...values }
}

/** @param files the ID and the content of each, by filename in order. */
function skillVersion(
  organizationId: string,
  skillId: number,
  version: number,
  name: string,
  files: Readonly<Record<string, readonly [id: number, content: string]>>,
) {
  const stored = Object.entries(files).map(([filename, [id, content]]) => ({
    id: uuid(id),
    filename,
    sha256: hash('sha256', content),
    sizeBytes: Buffer.byteLength(content),
    encoding: 'utf-8',
    executable: false,
  }))
  return {
    organizationId,
    skillId: uuid(skillId),
    version,
    name,
    description: '',
    digest: hash('sha256', `archive ${skillId} ${version}`),
    objectKey: `skills/${organizationId}/${uuid(skillId + 1000 * version)}`,
    archiveBytes: 10,
    files: JSON.stringify(stored),
    message: version === 1 ? null : 'Again',
    apiKeyId: uuid(21),
    userId: version === 1 ? null : 'ada',
    createdAt: CHANGED,
    contents: [...new Set(Object.values(files).map(([, content]) => content))],
  }
}
