/** A script of package.json that only has commands. Without one, it prints them. */
import { describeScript, parsed, UsageError } from './command-line.ts'
import { listOf, runNamed, SCRIPT_COMMANDS } from './commands.ts'

const DESCRIPTIONS = {
  operate: 'Operates the local service; with --remote, a deployment.',
  generate: 'Writes the committed files that are made from others.',
}

const [script] = process.argv.splice(2, 1) as [keyof typeof DESCRIPTIONS]
const commands = SCRIPT_COMMANDS[script]
if (!(await runNamed(commands))) {
  const [first = ''] = Object.keys(commands)
  const description = `${DESCRIPTIONS[script]}\n\n${listOf(commands)}`
  const help = describeScript(script, description, [`${first} --help`]).argument('[command]', 'one of the commands')
  const [unknown] = parsed(help).args
  if (unknown !== undefined) {
    throw new UsageError(`Unknown command '${unknown}'; allowed: ${Object.keys(commands).join(', ')}.`)
  }
  help.help()
}
