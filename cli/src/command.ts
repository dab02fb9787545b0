/** What all commands have in common: their description, and options that several have. */
import {
  type Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
  type OptionValues,
} from '@commander-js/extra-typings'
import { describeCommand, positiveInteger } from '../../command-line/src/index.ts'

/**
 * @param description its first sentence is what lists of commands show.
 * @param examples what follows `workspace`.
 */
export function describe(name: string, description: string, examples: readonly [string, ...string[]]): Command {
  const lines = examples.map((example) => `workspace ${example}`)
  const [summary = ''] = /^.*?\.(?= |$)/.exec(description) ?? []
  return describeCommand(name, summary, lines).configureHelp({
    showGlobalOptions: false,
    commandDescription: () => description,
  })
}

/** A command that has only subcommands. The options of a subcommand follow its name. */
export function group(
  name: string,
  description: string,
  examples: readonly [string, ...string[]],
  subcommands: readonly CommandUnknownOpts[],
): Command {
  const command = describe(name, description, examples).enablePositionalOptions().helpCommand(false)
  for (const subcommand of subcommands) command.addCommand(subcommand)
  return command
}

export function withJson<Arguments extends unknown[], Options extends OptionValues>(
  command: Command<Arguments, Options>,
) {
  return command.option('--json', 'print JSON, one value per line')
}

/** For what shows times. */
export function withTimes<Arguments extends unknown[], Options extends OptionValues>(
  command: Command<Arguments, Options>,
) {
  return withJson(command).option('--utc', 'show exact times, in UTC')
}

/** For lists. @param most how many are listed without the option. */
export function withLimit<Arguments extends unknown[], Options extends OptionValues>(
  command: Command<Arguments, Options>,
  most: number | 'all' = 'all',
) {
  return withTimes(command)
    .option('--limit <number>', `how many to list; default: ${most}`, positiveInteger)
    .addOption(new Option('-o, --output <format>', 'show more columns').choices(['wide'] as const))
}

const MAX_OVERLAP_SECONDS = 30 * 86_400

/** For what makes a new secret. */
export function withOverlap<Arguments extends unknown[], Options extends OptionValues>(
  command: Command<Arguments, Options>,
) {
  return withJson(command).option(
    '--overlap <seconds>',
    'how long the old one stays valid; default: a day',
    integerFrom(0, MAX_OVERLAP_SECONDS),
  )
}

/** Parses the value of an option. */
export function integerFrom(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (Number.isSafeInteger(number) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`Allowed: a whole number from ${min} to ${max}.`)
  }
}

/** An object without the properties that are undefined. */
export function given<Properties extends object>(properties: Properties) {
  const entries = Object.entries(properties).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as {
    [Name in keyof Properties]: Exclude<Properties[Name], undefined>
  }
}
