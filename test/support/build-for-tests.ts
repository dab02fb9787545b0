/** Builds what tests on Node start: the pages of the console, and the command as it is published. */
import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { bundleCommand } from '../../cli/bundle.ts'
import { COMMAND } from './commands.ts'

export default async function setup(): Promise<void> {
  execFileSync('npm', ['run', '--silent', 'build', '--workspace', '@workspace-api/console'])
  await bundleCommand(dirname(COMMAND))
}
