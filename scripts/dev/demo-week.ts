/**
 * The last week of the demo workspace, for the pages of the console: schedules with runs of all outcomes, a second person,
 * and what both have done. The rows are inserted, because they are from the past.
 */
import { v7 as newUuid, v5 as uuidOf } from 'uuid'
import { SEQUENCES_PER_MS } from '../../src/access/event-types.ts'
import { runsAfter } from '../../src/cron/next-run.ts'
import { auditEvents, identities, runs, schedules, signInRules, users } from '../../src/db/schema.ts'
import { query } from '../../src/db/statement.ts'
import { DAY_MS, HOUR_MS } from '../../src/durations.ts'
import { EXAMPLE_IDS } from '../../src/http/example-ids.ts'
import { computeRunId } from '../../src/resources/work/run-id.ts'

export const SECOND_PERSON = { id: 'katherine', name: 'Katherine Johnson' }

/** In the name space of this file. */
const idOf = (name: string) => uuidOf(name, '0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c90')

/** The session with `WEEK_FILES`. */
export const FLAKY_TEST_ID = idOf('Find the flaky test')

interface DemoSchedule {
  /** If the examples name it. */
  readonly id?: string
  readonly name: string
  readonly cron: string
  readonly timezone: string
  readonly parent: 'project' | 'agent'
  readonly minutes: number
  readonly messages: readonly [succeeded: string, failed: string]
  /** Which of its runs failed, counted back from the last one. */
  readonly failed: readonly number[]
  /** No worker has taken its last run. */
  readonly isWaiting?: boolean
  /** The session about its failures. */
  readonly sessionId?: string
  readonly pausedReason?: string
}

const SCHEDULES: readonly DemoSchedule[] = [
  {
    id: EXAMPLE_IDS.projectScheduleId,
    name: 'Nightly build',
    cron: '30 9 * * mon-fri',
    timezone: 'Europe/Paris',
    parent: 'project',
    minutes: 2,
    messages: ['Built 14 pages.', ''],
    failed: [],
  },
  {
    id: EXAMPLE_IDS.agentScheduleId,
    name: 'Morning review',
    cron: '0 6 * * *',
    timezone: 'UTC',
    parent: 'agent',
    minutes: 18,
    messages: ['Reviewed 6 pull requests.', ''],
    failed: [],
    isWaiting: true,
  },
  {
    name: 'Dependency updates',
    cron: '41 4 * * *',
    timezone: 'Europe/Paris',
    parent: 'project',
    minutes: 12,
    messages: ['Opened 3 pull requests.', 'npm ci failed: the lock file is out of date.'],
    failed: [2],
  },
  {
    name: 'End-to-end tests of the checkout',
    cron: '17 1,13 * * *',
    timezone: 'Europe/Paris',
    parent: 'project',
    minutes: 34,
    messages: ['All 214 tests passed.', 'declined-card.spec.ts: expected "Try another card", got "Thank you".'],
    failed: [0, 1, 5],
    sessionId: FLAKY_TEST_ID,
  },
  {
    name: 'Triage new issues',
    cron: '23 * * * *',
    timezone: 'UTC',
    parent: 'agent',
    minutes: 2,
    messages: ['Labelled 4 issues.', 'GitHub answered 403: the token has expired.'],
    failed: [0, 1, 2],
    pausedReason: '3 runs in a row failed. The last failure (task): GitHub answered 403: the token has expired.',
  },
  {
    name: 'Weekly security review',
    cron: '52 7 * * mon',
    timezone: 'UTC',
    parent: 'agent',
    minutes: 51,
    messages: ['No findings above medium.', ''],
    failed: [],
  },
]

/** The sessions that were deleted and can be restored, the earliest first, as their IDs are. */
export const WEEK_DELETIONS = [
  {
    id: EXAMPLE_IDS.deletionId,
    resourceId: EXAMPLE_IDS.deletedSessionId,
    name: 'Try the new search',
    hoursAgo: 20,
    userId: 'ada',
  },
  {
    id: EXAMPLE_IDS.purgedDeletionId,
    resourceId: idOf('Compare two search engines'),
    name: 'Compare two search engines',
    hoursAgo: 3,
    userId: 'katherine',
  },
] as const

/** The identity provider of the organization, which nobody can reach. */
export const ISSUER = 'https://login.example.com'

/** The ID of the rule by which the second person signs in. */
const RULE_ID = idOf('platform')

/** What the two people did, how many hours ago. */
const EVENTS = [
  [150, 'katherine', 'skill.updated', EXAMPLE_IDS.skillId, 'release-notes'],
  [124, 'ada', 'session.created', EXAMPLE_IDS.sessionId, 'Rebuild the checkout'],
  [101, 'katherine', 'schedule.created', idOf('Dependency updates'), 'Dependency updates'],
  [77, 'katherine', 'schedule.updated', idOf('End-to-end tests of the checkout'), 'End-to-end tests of the checkout'],
  [53, 'ada', 'environment-variable.set', EXAMPLE_IDS.variableKey, EXAMPLE_IDS.variableKey],
  [29, 'ada', 'pull-request.created', EXAMPLE_IDS.pullRequestId, 'Accept Apple Pay'],
  [26, 'katherine', 'skill.published', EXAMPLE_IDS.skillId, 'release-notes'],
  [5, null, 'schedule.paused', idOf('Triage new issues'), 'Triage new issues'],
  ...WEEK_DELETIONS.map(
    ({ hoursAgo, userId, resourceId, name }) => [hoursAgo, userId, 'session.deleted', resourceId, name] as const,
  ),
] as const

/** Inserts of the week before `now`. @param keys the API key of each person. */
export function weekRows(organizationId: string, keys: Readonly<Record<string, string>>, now: Date) {
  const time = (hoursAgo: number) => new Date(now.getTime() - hoursAgo * HOUR_MS)
  const created = { createdAt: time(8 * 24).toISOString(), updatedAt: time(3 * 24).toISOString() }
  return [
    query.insert(users).values({ organizationId, ...SECOND_PERSON, ...created }),
    query.insert(signInRules).values({
      organizationId,
      id: RULE_ID,
      issuer: ISSUER,
      claim: 'groups',
      value: 'platform',
      role: 'admin',
      createdByKeyId: EXAMPLE_IDS.apiKeyId,
      ...created,
    }),
    query.insert(identities).values({
      organizationId,
      id: idOf(SECOND_PERSON.name),
      issuer: ISSUER,
      subject: '00u1a2b3c5',
      userId: SECOND_PERSON.id,
      email: 'katherine@example.com',
      role: 'admin',
      ruleIds: JSON.stringify([RULE_ID]),
      lastSignInAt: time(26).toISOString(),
      createdAt: created.createdAt,
    }),
    ...SCHEDULES.flatMap((schedule) => scheduleRows(organizationId, schedule, created, now)),
    ...EVENTS.map(([hoursAgo, userId, type, resourceId, resourceName]) =>
      query.insert(auditEvents).values({
        organizationId,
        sequence: time(hoursAgo).getTime() * SEQUENCES_PER_MS,
        id: newUuid(),
        type,
        resourceId,
        parentId: type.startsWith('schedule.') ? parentOf(resourceName).parentId : null,
        resourceName,
        projectId: projectOf(type, resourceName),
        apiKeyId: userId && (keys[userId] ?? null),
        apiKeyName: userId && 'laptop',
        userId,
      }),
    ),
  ]
}

const parentOf = (name: string) => {
  const schedule = SCHEDULES.find((each) => each.name === name)
  return schedule?.parent === 'agent'
    ? ({ parentType: 'agent', parentId: EXAMPLE_IDS.agentId } as const)
    : ({ parentType: 'project', parentId: EXAMPLE_IDS.projectId } as const)
}

function projectOf(type: string, resourceName: string): string | null {
  if (type.startsWith('skill.')) return null
  if (type.startsWith('schedule.') && parentOf(resourceName).parentType === 'agent') return null
  return EXAMPLE_IDS.projectId
}

function scheduleRows(
  organizationId: string,
  demo: DemoSchedule,
  created: { readonly createdAt: string; readonly updatedAt: string },
  now: Date,
) {
  const { name, cron, timezone, minutes, messages, failed, isWaiting = false, sessionId, pausedReason } = demo
  const id = demo.id ?? idOf(name)
  const end = pausedReason === undefined ? now : new Date(now.getTime() - 5 * HOUR_MS)
  const times = timesBetween(cron, timezone, new Date(now.getTime() - 7 * DAY_MS), end)
  const schedule = query.insert(schedules).values({
    organizationId,
    id,
    ...parentOf(name),
    name,
    cron,
    timezone,
    payload: JSON.stringify({ task: name }),
    pauseAfterFailures: 3,
    enabledAt: pausedReason === undefined ? created.createdAt : null,
    pausedReason: pausedReason ?? null,
    lastRunAt: times.at(-1)?.toISOString() ?? null,
    nextRunAt: pausedReason === undefined ? runsAfter(cron, timezone, now).next().value.toISOString() : null,
    ...created,
  })
  const inserts = times.toReversed().map((due, index) => {
    const run = {
      organizationId,
      scheduleId: id,
      scheduledAt: due.toISOString(),
      id: computeRunId(id, due.toISOString()),
      ...parentOf(name),
      createdAt: due.toISOString(),
      updatedAt: due.toISOString(),
    }
    if (isWaiting && index === 0) return query.insert(runs).values({ ...run, status: 'pending', attempts: 0 })
    const hasFailed = failed.includes(index)
    const startedAt = new Date(due.getTime() + 2_400)
    // No two runs take the same time.
    const finishedAt = new Date(startedAt.getTime() + minutes * 60_000 * (0.8 + ((index * 37) % 40) / 100))
    return query.insert(runs).values({
      ...run,
      status: hasFailed ? 'failed' : 'succeeded',
      failure: hasFailed ? 'task' : null,
      attempts: 1,
      lastAttempts: JSON.stringify([
        { startedAt: startedAt.toISOString(), status: 202, milliseconds: 96, error: null },
      ]),
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt < now ? finishedAt.toISOString() : now.toISOString(),
      message: messages[hasFailed ? 1 : 0],
      sessionId: hasFailed ? (sessionId ?? null) : null,
    })
  })
  return [schedule, ...inserts]
}

function timesBetween(cron: string, timezone: string, start: Date, end: Date): Date[] {
  const times: Date[] = []
  for (const time of runsAfter(cron, timezone, start)) {
    if (time >= end) return times
    times.push(time)
  }
  return times
}

/** Files of each kind that the console shows. */
export const WEEK_FILES: Readonly<Record<string, string>> = {
  'report.md': `# The flaky test

\`declined-card.spec.ts\` fails in **3 of 40** runs.

| browser | runs | failures |
| ------- | ---: | -------: |
| Chromium | 20 | 3 |
| Firefox | 20 | 0 |

1. The stub of the bank answers before the page listens.
2. The test then waits for a message that was shown already.

> Wait for the request instead of the message.

See [the trace](https://playwright.dev/docs/trace-viewer).
`,
  'report.html':
    '<!doctype html><title>Coverage</title><style>body{font:16px system-ui}td{padding:4px 12px}</style><h1>Coverage</h1><table><tr><td>cart.ts</td><td>96 %</td></tr><tr><td>payment.ts</td><td>81 %</td></tr></table>\n',
  'results.json': `${JSON.stringify({ passed: 211, failed: 3, browsers: ['chromium', 'firefox'], flaky: ['declined-card'] })}\n`,
  'failures.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 60"><rect width="120" height="60" fill="#f4f4f6"/><path d="M10 50V40M30 50V20M50 50V44M70 50V12M90 50V46M110 50V30" stroke="#c22f2b" stroke-width="8"/></svg>\n',
  'test.log': Array.from(
    { length: 400 },
    (_, index) =>
      `[${String(index + 1).padStart(3, '0')}/400] ${index % 131 === 130 ? 'FAIL' : 'ok'}  declined-card #${index + 1}`,
  ).join('\n'),
  'src/wait-for-bank.ts': `/** Waits for the request to the bank, which may be over already. */
export async function waitForBank(page: Page): Promise<void> {
  await page.waitForResponse((response) => response.url().includes('/bank/'))
}
`,
}

/** The later versions of the skill of the demo: message, and the line that it adds to SKILL.md. */
export const WEEK_VERSIONS = [
  ['Say who reads them', '4. Write for people who do not know the code.'],
  ['Name the breaking changes', '5. Put what breaks first, with what to do about it.'],
  ['Shorter', '6. One screen at most.'],
  ['Link the pull requests', '7. End each line with the number of its pull request.'],
] as const
