/** Schedules fire: a ledger of runs, and run endpoints, whose secrets this service sealed itself. */
import { runIdOf } from '../../src/resources/schedules/firing/run-id.ts'
import {
  ACME,
  asTheyAre,
  CHANGED,
  FAR_AHEAD,
  GLOBEX,
  HOURLY,
  REVIEWER,
  type SchemaVersion,
  uuid,
  WEBSITE,
  WRITTEN,
} from './schema-version.ts'

const SKIPPED = 'It was missed: the instant 2026-03-28T05:00:00.000Z stands in for it'

/** A run of the hourly schedule. */
function run(scheduledAt: string, status: string, values: object = {}) {
  return {
    organizationId: ACME,
    scheduleId: HOURLY,
    scheduledAt,
    id: runIdOf(HOURLY, scheduledAt),
    parentType: 'project',
    parentId: WEBSITE,
    status,
    attempts: 0,
    createdAt: scheduledAt,
    updatedAt: CHANGED,
    ...values,
  }
}

const endpoint = (organizationId: string, url: string, sealedSecret: string, values: object = {}) => ({
  organizationId,
  url,
  sealedSecret,
  createdAt: WRITTEN,
  updatedAt: CHANGED,
  ...values,
})

/** With what Acme's receiver verifies deliveries. */
export const SECRETS = [
  'whsec_Y2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2M=',
  'whsec_cHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHA=',
]

export const schedulesFire: SchemaVersion = {
  migration: '0002_schedules_fire.sql',
  becomes: asTheyAre,

  rows: {
    schedules: [
      {
        organizationId: ACME,
        parentType: 'agent',
        parentId: REVIEWER,
        id: uuid(2401),
        cron: '*/5 * * * *',
        timezone: 'UTC',
        lastRunAt: CHANGED,
        createdAt: WRITTEN,
        updatedAt: CHANGED,
        pausedReason: '20 runs in a row failed. The last: It answered with 500',
      },
    ],
    runs: [
      run('2026-03-28T01:00:00.000Z', 'delivered', { attempts: 2, lastError: 'It answered with 503' }),
      run('2026-03-28T02:00:00.000Z', 'failed', { attempts: 6, lastError: 'It answered with 500' }),
      run('2026-03-28T03:00:00.000Z', 'skipped', { lastError: SKIPPED }),
      run('2026-03-28T04:00:00.000Z', 'pending', { sendAfter: '2026-03-28T04:15:00.000Z', attempts: 1 }),
      run('2026-03-28T04:30:12.345Z', 'pending', { idempotencyKey: 'now-1' }),
      {
        ...run('2026-03-28T05:00:00.000Z', 'pending'),
        scheduleId: uuid(412),
        id: runIdOf(uuid(412), '2026-03-28T05:00:00.000Z'),
        parentType: 'agent',
        parentId: REVIEWER,
      },
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
    runEndpoints: [
      endpoint(
        ACME,
        'https://hooks.example.com/acme',
        'v1.test.nqtfXnrp23neSE4m.AcftA-6mDPL8l-9qW54pyVWaIX7frzqH7zrJEfYtH53z_vjaHkQB-VKaEb8wfYueXzzfDEkBiGU4LVhhMktJO6Ac',
        {
          previousSealedSecret:
            'v1.test.yqx_MNwUacAHQehI.tqJj3L-avjtXKFXnrk_I8FyBKVYocyqwGPzr8pmB40Qxbw1mYE1LqapjOHKliRMSmIdc7FlW9571V4gfW0CUF8bo',
          previousExpiresAt: FAR_AHEAD,
        },
      ),
      endpoint(
        GLOBEX,
        'https://hooks.example.com/globex',
        'v1.test.VaEtIy8ggOLadrnF.XcMXPKvwyiL9492unby-lfOZBa9h5JfVYWjoej3UUrLGbfx9a8EVfCHtwU3396Uy5Ae3QiJKm7SeJ3Lsh6h8ig0i',
      ),
    ],
  },
}
