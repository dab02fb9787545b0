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
  const { lines, exceeded } = costTable(costs, { 'test/cron': 499, test: 100, other: 10_000 })
  const rows = lines.slice(2).map((line) => line.split(/ +/).slice(0, 2))
  expect(rows).toEqual([
    ['test/cron', '500'],
    ['cli/test', '100'],
    ['test', '100'],
    ['all', '700'],
  ])
  expect(exceeded).toEqual(['test/cron'])
})

it.each([
  ['a quiet machine', [4, 36], []],
  ['a machine that is twice as slow', [8, 72], []],
  ['a part that grew on a quiet machine', [13, 36], ['a']],
  ['a part that grew on a machine that is twice as slow', [26, 72], ['a']],
  ['more than all limits together', [26, 226], ['b', 'a']],
])('%s exceeds these limits', (_, [a = 0, b = 0], expected) => {
  const costs = [
    { file: 'a/a.test.ts', seconds: a },
    { file: 'b/b.test.ts', seconds: b },
  ]
  expect(costTable(costs, { a: 10, b: 90 }).exceeded).toEqual(expected)
})
