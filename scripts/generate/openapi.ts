/** Generates from the contracts the OpenAPI document that the Worker serves, and the types of the client. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ROOT } from '../../operate/wrangler.ts'
import { openapiDocument } from '../../src/openapi/document.ts'
import { loadOperations } from '../../src/operations.ts'
import { describeScript, parsed } from '../command-line.ts'

const options = parsed(
  describeScript(
    'openapi',
    'Writes public/openapi.json and client/src/api.ts from the contracts of the operations.',
    ['', '--check'],
  ).option('--check', 'write nothing; fail if the files are not in step'),
).opts()

// Resolved from client/, because the generator needs an older TypeScript than the rest of the project.
const requireFromClient = createRequire(join(ROOT, 'client', 'package.json'))
const { default: openapiTS, astToString } = requireFromClient('openapi-typescript')
const { factory } = requireFromClient('typescript')

const document = openapiDocument(await loadOperations())
// The content of an upload. What a response contains depends on the option `parseAs` of the call.
const transform = ({ format }: { format?: string }, { path }: { path: string }) =>
  format === 'binary' && path.includes('/requestBody/')
    ? factory.createUnionTypeNode(
        ['Blob', 'ArrayBuffer', 'Uint8Array'].map((name) => factory.createTypeReferenceNode(name)),
      )
    : undefined
const types = astToString(await openapiTS(document, { transform }))

writeOrCheck(join('public', 'openapi.json'), document)
writeOrCheck(
  join('client', 'src', 'api.ts'),
  `/** Generated from the OpenAPI document by \`npm run openapi\`. */\n\n${types}`,
)

function writeOrCheck(file: string, content: string): void {
  if (!options.check) {
    writeFileSync(join(ROOT, file), content)
  } else if (readFileSync(join(ROOT, file), 'utf8') !== content) {
    console.error(`${file} is not in step with the contracts. Run \`npm run openapi\`.`)
    process.exitCode = 1
  }
}
