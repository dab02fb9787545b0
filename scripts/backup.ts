/**
 * Writes the database to a file of SQL, by wrangler's own export (docs/restore.md says what that covers).
 *
 *     npm run backup -- --output backup.sql [--remote | --persist-to some/dir]
 */
import { existsSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { exportDatabase } from './wrangler.ts'

const { values: options } = parseArgs({
  options: {
    output: { type: 'string' },
    remote: { type: 'boolean', default: false },
    'persist-to': { type: 'string' },
  },
})
if (!options.output || existsSync(options.output)) {
  console.error('--output: expected a file that does not exist yet')
  process.exit(1)
}
exportDatabase({ remote: options.remote, persistTo: options['persist-to'] }, options.output)
console.log(`${options.output}: ${statSync(options.output).size} bytes`)
