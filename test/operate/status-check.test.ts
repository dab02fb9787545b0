import { rmSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { problemsOf } from '../../operate/problems.ts'
import { runScript } from '../support/commands.ts'
import { newState, rowsOf } from '../support/local-state.ts'

const MINUTE_MS = 60_000
const state = newState()
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toISOString()
const run = (sql: string) => rowsOf(state, `${sql} RETURNING 1`)

async function check() {
  const { status, stdout, stderr } = await runScript('operate status', ['--check', '--persist-to', state])
  return [status, stdout, stderr]
}

beforeEach(async () => {
  for (const table of ['lastTick', 'alerts', 'tickReports']) await run(`DELETE FROM "${table}"`)
  await run(`INSERT INTO "lastTick" VALUES (1, '${minutesAgo(5)}')`)
})

afterAll(() => rmSync(state, { recursive: true }))

describe('npm run operate -- status --check', () => {
  it('exits with 0 if nothing is wrong', async () => {
    expect(await check()).toEqual([0, 'Nothing is wrong.\n', ''])
  })

  it('exits with 1 and says that the tick is late, or has never run', async () => {
    const lastTickAt = minutesAgo(7)
    await run(`UPDATE "lastTick" SET "scheduledAt" = '${lastTickAt}'`)
    expect(await check()).toEqual([1, '', `The tick of database 0 is late: the last one was ${lastTickAt}.\n`])
    await run('DELETE FROM "lastTick"')
    expect(await check()).toEqual([1, '', 'The tick of database 0 is late: none has run.\n'])
  })

  it('exits with 1 and says which calls fail and that there are dead letters, as long as they last', async () => {
    await run(`INSERT INTO "tickReports" VALUES (0, '${minutesAgo(1)}', 0), (1, '${minutesAgo(1)}', 5)`)
    const begunAt = minutesAgo(60)
    await run(`INSERT INTO "alerts" VALUES (1, 'failing', '${begunAt}', '${begunAt}', NULL)`)
    await run(`INSERT INTO "alerts" VALUES (0, 'dead-letters', '${begunAt}', NULL, '${minutesAgo(-10)}')`)
    expect(await check()).toEqual([
      1,
      '',
      `Messages of database 0 have become dead letters since ${begunAt}.\nCalls of ticks to database 1 have failed since ${begunAt}.\n`,
    ])
    // Without a receiver of alerts, nothing ends them.
    await run(`UPDATE "alerts" SET "endsAt" = '${minutesAgo(1)}' WHERE "endsAt" IS NOT NULL`)
    await run(`UPDATE "tickReports" SET "scheduledAt" = '${minutesAgo(60)}'`)
    expect(await check()).toEqual([0, 'Nothing is wrong.\n', ''])
  })

  it('counts a database as full from 70 %', () => {
    const now = new Date()
    const ofSize = (number: number, sizeBytes: number) => ({ number, sizeBytes, lastTickAt: now.toISOString() })
    const problems = problemsOf([ofSize(0, 6.99e9), ofSize(3, 7e9)], [], [], [], now)
    expect(problems).toEqual(['Database 3 is 70 % full.'])
  })
})
