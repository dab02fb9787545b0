import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { alerts } from '../../src/db/schema.ts'
import { ROOT } from '../../tools/wrangler.ts'

const FULL = '### `database 0 is 70 % full`'
/** The heading in docs/operate.md of each alert. */
const HEADINGS: Record<typeof alerts.$inferSelect.name, string> = {
  late: '### `no completed tick of database 0 is recorded since …`',
  failing: '### `… calls of ticks to database 1 failed`',
  'size-70': FULL,
  'size-85': FULL,
  'size-95': FULL,
  'dead-letters': '### Dead letters',
  events: '### `more than EVENT_BYTE_LIMIT`',
}

it.each(Object.entries(HEADINGS))('the alert %s has a section that says what to type', (_, heading) => {
  const [, section = ''] = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8').split(`\n${heading}\n`)
  expect(section.split('\n### ')[0]).toMatch(/^1\. .*`/m)
})
