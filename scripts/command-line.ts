/** What all scripts share on the command line. */

const LINE_MS = 10_000
const REDRAW_MS = 100
const BAR_WIDTH = 30

/** The progress of long work, on stderr. Results go to stdout, through `log` and `end`. */
export interface Progress {
  /** Call it often: while synchronous work runs, nothing else shows progress. */
  add(count?: number): void
  /** Prints a line to stdout, above the bar. */
  log(line: string): void
  /** Removes the bar, and prints the summary to stdout. */
  end(summary?: string): void
}

/**
 * Shows a bar on a terminal, otherwise a line every 10 seconds.
 * @param total if undefined, only what is done is counted.
 */
export function startProgress(title: string, total?: number): Progress {
  const { stderr } = process
  const interval = stderr.isTTY ? REDRAW_MS : LINE_MS
  let done = 0
  let shownAt = Date.now()
  const counts = () => `${done.toLocaleString('en')}${total ? ` of ${total.toLocaleString('en')}` : ''}`
  const bar = () => {
    const filled = Math.round(Math.min(1, done / (total || 1)) * BAR_WIDTH)
    return total ? ` [${'#'.repeat(filled).padEnd(BAR_WIDTH)}]` : ':'
  }
  const clear = () => stderr.isTTY && stderr.write('\r\x1b[K')
  const show = () => {
    shownAt = Date.now()
    if (stderr.isTTY) stderr.write(`\r\x1b[K${`${title}${bar()} ${counts()}`.slice(0, stderr.columns - 1)}`)
    else stderr.write(`${title}: ${counts()}\n`)
  }
  const timer = setInterval(show, interval).unref()
  process.once('exit', clear)
  if (stderr.isTTY) show()
  return {
    add(count = 1) {
      done += count
      if (Date.now() - shownAt >= interval) show()
    },
    log(line) {
      clear()
      console.log(line)
      if (stderr.isTTY) show()
    },
    end(summary) {
      clearInterval(timer)
      process.off('exit', clear)
      clear()
      if (summary !== undefined) console.log(summary)
    },
  }
}
