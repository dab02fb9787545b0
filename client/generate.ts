/** Writes src/api.ts, the types of the API, from its OpenAPI document. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { factory } from 'typescript'

const DOCUMENT = join(import.meta.dirname, '..', 'public', 'openapi.json')
const TYPES = join(import.meta.dirname, 'src', 'api.ts')

export async function writeTypes(): Promise<void> {
  const types = await openapiTS(readFileSync(DOCUMENT, 'utf8'), {
    // The content of an upload. What a response contains depends on the option `parseAs` of the call.
    transform: ({ format }, { path }) =>
      format === 'binary' && path?.includes('/requestBody/')
        ? factory.createUnionTypeNode(
            ['Blob', 'ArrayBuffer', 'Uint8Array'].map((name) => factory.createTypeReferenceNode(name)),
          )
        : undefined,
  })
  writeFileSync(TYPES, `/** Generated from the OpenAPI document by generate.ts. */\n\n${astToString(types)}`)
}

if (import.meta.main) await writeTypes()
