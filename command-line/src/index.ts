/**
 * What the scripts and the command `workspace` share on the command line: options, `--help`, error messages, exit codes
 * and progress.
 *
 * Exit code 1 after one line on stderr: the script failed. Exit code 2: the command line is wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { format } from 'node:util'
import { Command, type CommandUnknownOpts, InvalidArgumentError, type Option } from '@commander-js/extra-typings'
import { printable, printableLines } from '../../client/src/printable.ts'

export type { Command, OptionValues } from '@commander-js/extra-typings'

const FAILED = 1
const WRONG_USE = 2
/** The exit code of a process that Ctrl-C has ended, in shells. */
const INTERRUPTED = 130

/** The command line is wrong in a way that the declared options and arguments do not show. */
export class UsageError extends Error {}

/** @param examples whole command lines. */
export function describeCommand(name: string, description: string, examples: readonly string[]): Command {
  const command: Command = new Command(name)
    .description(description)
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `\nExamples:${examples.map((example) => `\n  ${example}`).join('')}`)
    .configureOutput({
      outputError: (text, write) => write(`${printable(usageMessage(text.replace(/^error: /, ''), command))}\n`),
    })
    .exitOverride(({ exitCode }) => process.exit(exitCode && WRONG_USE))
  return command
}

/** Parses the command line. From then on, an error ends the process with one line. */
export function parsed<Parsed extends CommandUnknownOpts>(command: Parsed): Parsed {
  let running: CommandUnknownOpts = command
  protectTerminal()
  process.on('uncaughtException', (error) => void fail(error, running))
  // commander would check these first, so that a misspelt one would be reported as missing.
  const required = withSubcommands(command).flatMap(({ options }) => options.filter(({ mandatory }) => mandatory))
  for (const option of required) {
    option.mandatory = false
    option.description += ' (required)'
  }
  command.hook('preAction', (_, subcommand) => {
    running = subcommand
    checkValues(subcommand, required)
  })
  command.parse()
  checkValues(command, required)
  return command
}

/** Names and messages come from servers and files, so none of what is printed may change the terminal. */
function protectTerminal(): void {
  for (const name of ['log', 'error', 'warn'] as const) {
    const write = console[name]
    console[name] = (...values: unknown[]) => write(printableLines(format(...values)))
  }
}

function withSubcommands(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}

/** @throws if a required option is missing, or if the value of an option is empty or another option. */
function checkValues(command: CommandUnknownOpts, required: readonly Option[]): void {
  for (const option of command.options) {
    const value = command.getOptionValue(option.attributeName())
    if (value === undefined && required.includes(option)) throw new UsageError(`${option.flags} is missing.`)
    // An empty environment is production, as for wrangler.
    if (value === '' && option.long !== '--env') throw new UsageError(`${option.long} is empty.`)
    if (typeof value === 'string' && value.startsWith('--') && process.argv.includes(value)) {
      throw new UsageError(`${option.long} has no value; got the option ${value} instead.`)
    }
  }
}

/** Parses the value of an option. */
export function positiveNumber(text: string): number {
  const number = Number(text)
  if (number > 0 && Number.isFinite(number)) return number
  throw new InvalidArgumentError('Allowed: a number above 0.')
}

/** Parses the value of an option. */
export function positiveInteger(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new InvalidArgumentError('Allowed: a whole number above 0.')
}

/** Parses the value of an option. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Allowed: a whole number.')
}

/** Parses the value of an option. */
export function portNumber(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number
  throw new InvalidArgumentError('Allowed: a whole number from 1 to 65535.')
}

/** Creates a folder that is deleted when the process ends, also after an error or Ctrl-C. */
export function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(prefix)
  exitOnSignals()
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** By default, a signal ends the process without the event `exit`. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    if (process.listenerCount(signal) === 0) process.on(signal, () => process.exit(INTERRUPTED))
  }
}

async function fail(error: unknown, command: CommandUnknownOpts): Promise<never> {
  // A command that a signal ended fails; the signal ends this process too. Node polls for signals once in each loop.
  await setImmediate()
  await setImmediate()
  removeBar()
  if (error instanceof Error && error.name === 'AbortError') {
    // Ctrl-C while readline waited for an answer.
    console.error()
    process.exit(INTERRUPTED)
  }
  if (error instanceof UsageError) command.error(error.message)
  // JavaScript's own kinds of errors are mistakes in the program.
  const isExpected = error instanceof Error && (error.constructor === Error || !(error.constructor.name in globalThis))
  console.error(isExpected ? error.message : `Unexpected error: ${error}. DEBUG=1 shows the stack.`)
  if (process.env.DEBUG) console.error(error)
  process.exit(FAILED)
}

function usageMessage(text: string, command: CommandUnknownOpts): string {
  const message = text.trim().replaceAll(/\s*\n\s*/g, ' ')
  const sentence = message.charAt(0).toUpperCase() + message.slice(1)
  return `${sentence}${/[.!?]$/.test(sentence) ? '' : '.'} For help: ${pathOf(command)} --help`
}

function pathOf(command: CommandUnknownOpts): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

const LINE_MS = 10_000
const REDRAW_MS = 100
const BAR_WIDTH = 30

/** The progress of long work, on stderr. */
export interface Progress {
  /** Call it often: while synchronous work runs, nothing else shows progress. */
  add(count?: number): void
  /** Replaces the title, when the next step begins. A terminal shows it at once. */
  step(title: string): void
  /** Prints a line to stdout, above the bar. */
  log(line: string): void
  /** Prints a line to stderr, above the bar. */
  warn(line: string): void
  /** Removes the bar, and prints the summary to stdout. */
  end(summary?: string): void
}

/** Removes the bar of the progress that was started last. */
let removeBar: () => void = () => undefined

export function numberText(value: number): string {
  return value.toLocaleString('en')
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/**
 * Shows a bar on a terminal, otherwise a line every 10 seconds.
 * @param total if undefined, only what is done is counted.
 */
export function startProgress(first: string, total?: number): Progress {
  const { stderr } = process
  let title = first
  const interval = stderr.isTTY ? REDRAW_MS : LINE_MS
  let done = 0
  let shownAt = Date.now()
  const counts = () => `${numberText(done)}${total ? ` of ${numberText(total)}` : ''}`
  const bar = () => {
    const filled = Math.round(Math.min(1, done / (total || 1)) * BAR_WIDTH)
    return total ? ` [${'#'.repeat(filled).padEnd(BAR_WIDTH)}]` : ':'
  }
  const clear = () => stderr.isTTY && stderr.write('\r\x1b[K')
  const show = () => {
    shownAt = Date.now()
    if (stderr.isTTY) stderr.write(`\r\x1b[K${`${title}${bar()} ${counts()}`.slice(0, (stderr.columns || 80) - 1)}`)
    else stderr.write(`${title}: ${counts()}\n`)
  }
  const timer = setInterval(show, interval).unref()
  if (stderr.isTTY) exitOnSignals()
  process.once('exit', clear)
  removeBar = () => {
    clearInterval(timer)
    process.off('exit', clear)
    clear()
  }
  if (stderr.isTTY) show()
  const print = (write: (line: string) => void, line: string) => {
    clear()
    write(line)
    if (stderr.isTTY) show()
  }
  return {
    add(count = 1) {
      done += count
      if (Date.now() - shownAt >= interval) show()
    },
    step(next) {
      title = next
      if (stderr.isTTY) show()
    },
    log: (line) => print(console.log, printable(line)),
    warn: (line) => print(console.error, printable(line)),
    end(summary) {
      removeBar()
      if (summary !== undefined) console.log(summary)
    },
  }
}
