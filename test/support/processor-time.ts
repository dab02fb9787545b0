/** Notes the processor time of each file on Node, for the table of `npm test` (scripts/checks/processor-time.ts). */
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, expect } from 'vitest'
import { processorSeconds } from '../../scripts/checks/processor-time.ts'

const { PROCESSOR_TIMES } = process.env
const file = relative(process.cwd(), expect.getState().testPath ?? '')
const before = processorSeconds()

// The hooks of the file run before this one, and end the processes that it started.
afterAll(() => {
  const seconds = (processorSeconds() ?? 0) - (before ?? 0)
  if (PROCESSOR_TIMES) appendFileSync(PROCESSOR_TIMES, `${JSON.stringify({ file, seconds })}\n`)
})
