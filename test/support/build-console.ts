/** Builds the pages of the console before the tests that serve them. */
import { execFileSync } from 'node:child_process'

export default function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build', '--workspace', '@workspace-api/console'])
}
