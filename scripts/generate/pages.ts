/** Writes the pages of a deployment to public/, from the OpenAPI document and docs/. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { ROOT } from '../../tools/wrangler.ts'
import { GUIDES, guideMarkdown } from './pages/guides.ts'
import { claimHtml, guideHtml, homeHtml, homeJson, referenceHtml } from './pages/html.ts'
import { fullText, indexText } from './pages/llms.ts'
import { operationMarkdown, readDocument } from './pages/operations.ts'
import { writeFolder } from './write-folder.ts'

const FOLDER = join(ROOT, 'public')
const DOCUMENT = 'openapi.json'
const VIEWER_MODULE = fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'))

export function writePages(): void {
  const document = readDocument(join(FOLDER, DOCUMENT))
  const viewer = hashed('docs/viewer', viewerScript())
  const scriptOf = (name: string) => readFileSync(join(import.meta.dirname, 'pages', `${name}.js`), 'utf8')
  const script = hashed('docs/reference', scriptOf('reference'))
  const claimScript = hashed('docs/claim', scriptOf('claim'))
  const files = new Map([
    ['index.html', homeHtml(document)],
    ['index.json', homeJson(document)],
    ['llms.txt', indexText(document)],
    ['llms-full.txt', fullText(document)],
    ['docs.html', referenceHtml(document, viewer[0], script[0])],
    ['claim.html', claimHtml(claimScript[0])],
    viewer,
    script,
    claimScript,
    ['docs/viewer-licence.txt', readFileSync(join(VIEWER_MODULE, '..', '..', 'LICENSE'), 'utf8')],
  ])
  for (const guide of GUIDES) {
    files.set(`docs/${guide.name}.md`, guideMarkdown(guide))
    files.set(`docs/${guide.name}.html`, guideHtml(guide))
  }
  for (const operation of document.operations) {
    files.set(`docs/${operation.operationId}.md`, operationMarkdown(document, operation, 1))
  }
  writeFolder(FOLDER, files, [DOCUMENT])
}

/**
 * The package with Scalar's viewer in one script that has the fewest dependencies. The script is a string in
 * its module, which is read instead of imported: it is a plugin of Fastify.
 */
function viewerScript(): string {
  const [, literal] = /^var standalone_default = (".*");$/m.exec(readFileSync(VIEWER_MODULE, 'utf8')) ?? []
  if (literal === undefined) throw new Error(`${VIEWER_MODULE} has no viewer in "standalone_default".`)
  return runInNewContext(literal)
}

/** A script whose name has a hash of its content, so that browsers keep it for good. */
function hashed(name: string, content: string): [name: string, content: string] {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return [`${name}-${hash}.js`, content]
}
