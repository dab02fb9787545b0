/**
 * Generates from the contracts the OpenAPI document that the Worker serves, and the types of the client.
 *
 *     npm run openapi [-- --check]     with --check: fails if the files are not in step
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { openapiDocument } from '../src/openapi/document.ts'
import { loadOperations } from '../src/operations.ts'
import { ROOT } from './wrangler.ts'

// Resolved from client/, because the generator needs an older TypeScript than the rest of the project.
const requireFromClient = createRequire(join(ROOT, 'client', 'package.json'))
const { default: openapiTS, astToString } = requireFromClient('openapi-typescript')

const document = openapiDocument(await loadOperations())
const types = astToString(await openapiTS(document))

writeOrCheck(join('public', 'openapi.json'), document)
writeOrCheck(
  join('client', 'api.d.ts'),
  `/** Generated from the OpenAPI document by \`npm run openapi\`. */\n\n${types}`,
)

function writeOrCheck(file: string, content: string): void {
  if (!process.argv.includes('--check')) {
    writeFileSync(join(ROOT, file), content)
  } else if (readFileSync(join(ROOT, file), 'utf8') !== content) {
    console.error(`${file} is not in step with the contracts. Run \`npm run openapi\`.`)
    process.exitCode = 1
  }
}
