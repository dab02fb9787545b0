/** Generates from the contracts the OpenAPI document that the Worker serves, and from it the types of the client. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openapiDocument } from '../../src/openapi/document.ts'
import { loadOperations } from '../../src/operations.ts'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'

const FILE = join(ROOT, 'public', 'openapi.json')

const options = parsed(
  describeScript(
    'generate openapi',
    'Writes public/openapi.json and client/src/api.ts from the contracts of the operations.',
    ['', '--check'],
  ).option('--check', 'write nothing; fail if the document is not in step'),
).opts()

const document = openapiDocument(await loadOperations())
if (!options.check) {
  writeFileSync(FILE, document)
  // Loaded on use: the check does not need the generator.
  const { writeTypes } = await import('../../client/generate.ts')
  await writeTypes()
} else if (readFileSync(FILE, 'utf8') !== document) {
  console.error('public/openapi.json is not in step with the contracts. Run `npm run generate -- openapi`.')
  process.exitCode = 1
}
