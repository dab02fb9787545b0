/** What only the scripts share on the command line, and what they share with the command `workspace`. */
import { type Command, describeCommand, type OptionValues, UsageError } from '../command-line/src/index.ts'
import type { Target } from './wrangler.ts'

export {
  countOf,
  numberText,
  type Progress,
  parsed,
  portNumber,
  positiveInteger,
  positiveNumber,
  startProgress,
  temporaryFolder,
  UsageError,
  wholeNumber,
} from '../command-line/src/index.ts'

/**
 * @param script its name in package.json, and that of its command: `operate backup` is `npm run operate -- backup`.
 * @param examples what follows; may be empty.
 */
export function describeScript(script: string, description: string, examples: readonly [string, ...string[]]): Command {
  const [name, ...command] = script.split(' ')
  const lines = examples.map((example) => {
    const words = [...command, ...(example ? [example] : [])].join(' ')
    return `npm run ${name}${words && ` -- ${words}`}`
  })
  return describeCommand(['npm run', name, '--', ...command].join(' '), description, lines)
}

/** Adds the options that select a database, for `getTarget`. */
export function withTarget<Arguments extends unknown[], Options extends OptionValues>(
  command: Command<Arguments, Options>,
) {
  return command
    .option('--remote', 'use the database of a deployment instead of the local one')
    .option('--env <name>', 'with --remote: the environment in wrangler.toml, such as staging')
    .option('--config <file>', 'a configuration file instead of wrangler.toml')
    .option('--persist-to <folder>', 'a state folder instead of .wrangler/state')
}

/** @throws if the options contradict each other. */
export function getTarget(options: {
  remote?: true | undefined
  env?: string | undefined
  config?: string | undefined
  persistTo?: string | undefined
}): Target {
  const { remote = false, env: environment, config, persistTo } = options
  if (environment !== undefined && !remote) throw new UsageError('--env selects a deployment, so it needs --remote.')
  if (persistTo !== undefined && remote)
    throw new UsageError('--persist-to selects a local database, so it cannot be used with --remote.')
  return { remote, environment, config, persistTo }
}
