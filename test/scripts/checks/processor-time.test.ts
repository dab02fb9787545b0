import { expect, it } from 'vitest'
import { costsOf, costTable } from '../../../scripts/checks/processor-time.ts'

it('what processes of several files took is divided by the time of the files, and compared with the limits', () => {
  const onNode = [{ file: 'cli/test/keys.test.ts', seconds: 100 }]
  const durations = [
    { file: 'cli/test/keys.test.ts', seconds: 7 },
    { file: 'test/cron/cron.test.ts', seconds: 3 },
    { file: 'test/cron/next-run.test.ts', seconds: 2 },
    { file: 'test/guard.test.ts', seconds: 1 },
  ]
  const costs = costsOf(700, onNode, durations)
  const { lines, exceeded } = costTable(costs, { 'test/cron': 499, test: 100 })
  const rows = lines.slice(2).map((line) => line.split(/ +/).slice(0, 2))
  expect(rows).toEqual([
    ['test/cron', '500'],
    ['cli/test', '100'],
    ['test', '100'],
    ['all', '700'],
  ])
  expect(exceeded).toEqual(['test/cron'])
})
