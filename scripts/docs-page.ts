/** Writes the viewer of the reference page and its licence to public/docs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
// Of the packages with the viewer in one script, this one has the fewest dependencies. It serves the script over HTTP.
import reference from '@scalar/fastify-api-reference'
import fastify from 'fastify'
import { describeScript, parsed } from './command-line.ts'

const FOLDER = join(import.meta.dirname, '..', 'public', 'docs')

export async function putViewer(): Promise<void> {
  const server = fastify()
  await server.register(reference, { routePrefix: '/', configuration: { url: 'openapi.json' } })
  const { statusCode, body } = await server.inject('/js/scalar.js')
  if (statusCode !== 200)
    throw new Error(`@scalar/fastify-api-reference did not serve its viewer: ${statusCode} ${body}`)
  writeIfChanged('viewer.js', body)
  const entry = fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'))
  writeIfChanged('viewer-licence.txt', readFileSync(join(entry, '..', '..', 'LICENSE'), 'utf8'))
}

/** Writing an unchanged file would make `wrangler dev` reload. */
function writeIfChanged(name: string, content: string): void {
  const file = join(FOLDER, name)
  if (!existsSync(file) || readFileSync(file, 'utf8') !== content) writeFileSync(file, content)
}

if (import.meta.main) {
  parsed(
    describeScript(
      'docs:page',
      'Writes the viewer of the reference page and its licence to public/docs. wrangler runs this before it serves or deploys.',
      [''],
    ),
  )
  await putViewer()
}
