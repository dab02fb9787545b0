/**
 * Writes the database to a file of SQL, by wrangler's own export (docs/restore.md says what that covers).
 *
 *     npm run backup -- --output backup.sql [--remote [--env staging] | --persist-to some/dir]
 */
import { existsSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { exportDatabase, TARGET_OPTIONS, targetOf } from './wrangler.ts'

const { values: options } = parseArgs({
  options: {
    output: { type: 'string' },
    ...TARGET_OPTIONS,
  },
})
if (!options.output || existsSync(options.output)) {
  console.error('--output: expected a file that does not exist yet')
  process.exit(1)
}
exportDatabase(targetOf(options), options.output)
console.log(`${options.output}: ${statSync(options.output).size} bytes`)
