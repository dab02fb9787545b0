/**
 * Puts the viewer of the reference page into public/docs, with its licence. wrangler runs it before it serves or deploys.
 *
 *     npm run docs:page
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
// Of the packages that carry the viewer as one script, this one needs the fewest others. It gives the script out by HTTP.
import reference from '@scalar/fastify-api-reference'
import fastify from 'fastify'

const FOLDER = join(import.meta.dirname, '..', 'public', 'docs')

export async function putViewer(): Promise<void> {
  const server = fastify()
  await server.register(reference, { routePrefix: '/', configuration: { url: 'openapi.json' } })
  const { statusCode, body } = await server.inject('/js/scalar.js')
  if (statusCode !== 200) throw new Error(`The package has no viewer: ${body}`)
  put('viewer.js', body)
  const entry = fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'))
  put('viewer-licence.txt', readFileSync(join(entry, '..', '..', 'LICENSE'), 'utf8'))
}

/** Leaves a file alone that is as it should be: what watches the folder would begin again. */
function put(name: string, content: string): void {
  const file = join(FOLDER, name)
  if (!existsSync(file) || readFileSync(file, 'utf8') !== content) writeFileSync(file, content)
}

if (import.meta.main) await putViewer()
