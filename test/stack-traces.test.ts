import { expect, it } from 'vitest'
import source from './stack-traces.test.ts?raw'

/** Types are removed before a test runs, so without source maps, the lines below them differ. */
interface Place {
  readonly file: string
  readonly line: number
}

function placeOf({ stack = '' }: Error): Place {
  const [, file = '', line] = /([^/]*):(\d+):\d+/.exec(stack) ?? []
  return { file, line: Number(line) }
}

it('names the line of the source in the stack of an error', () => {
  const { file, line } = placeOf(new Error('in this line'))
  expect(file).toBe('stack-traces.test.ts')
  expect(source.split('\n')[line - 1]).toContain("new Error('in this line')")
})
