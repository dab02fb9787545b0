import { describe, expect, it, vi } from 'vitest'
import { startProgress } from '../src/index.ts'

describe('progress', () => {
  /** What half of the work prints, and its end. */
  function printed(isTerminal: boolean): string {
    vi.useFakeTimers()
    const written: string[] = []
    const write = (text: string | Uint8Array) => written.push(String(text)) > 0
    vi.spyOn(process.stderr, 'write').mockImplementation(write)
    vi.spyOn(console, 'log').mockImplementation((line) => write(`stdout: ${line}\n`))
    vi.spyOn(process, 'on').mockReturnThis()
    const { isTTY } = process.stderr
    process.stderr.isTTY = isTerminal
    try {
      const progress = startProgress('Copying rows', 2000)
      progress.add(1000)
      vi.advanceTimersByTime(10_000)
      progress.log('one')
      progress.step('Copying objects')
      progress.end('done')
      vi.advanceTimersByTime(60_000)
    } finally {
      process.stderr.isTTY = isTTY
      vi.useRealTimers()
      vi.restoreAllMocks()
    }
    return written.join('')
  }

  it('is a line every ten seconds without a terminal', () => {
    expect(printed(false)).toBe('Copying rows: 1,000 of 2,000\nstdout: one\nstdout: done\n')
  })

  it('is a bar on a terminal, below what is printed', () => {
    const bar = `Copying rows [${'#'.repeat(15)}${' '.repeat(15)}] 1,000 of 2,000`
    // "Erase in line" begins each redrawing.
    const next = bar.replace('rows', 'objects')
    expect(printed(true).split('\r\u001b[K').slice(-5)).toEqual([bar, 'stdout: one\n', bar, next, 'stdout: done\n'])
  })
})
