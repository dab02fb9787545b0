/** What agents read: `llms.txt`, an index in the form of llmstxt.org, and `llms-full.txt`, everything in one file. */
import { DESCRIPTION, GUIDES, guideMarkdown } from './guides.ts'
import { type Document, operationMarkdown } from './operations.ts'

/** In both files, before the first section. */
function introduction({ info }: Document): string {
  return `# ${info.title} ${info.version}

> ${DESCRIPTION}

- Links are relative to the address of this file. The address without \`/llms.txt\` or \`/llms-full.txt\` is the base URL.
- Send \`Authorization: Bearer <API key>\` with every request. An API key begins with \`wsk\`; ask an operator of this
  deployment for one, or create it with \`POST /v1/api-keys\`. \`GET /v1/me\` shows what your key may do.
- Request bodies are JSON (\`Content-Type: application/json\`) unless the operation says otherwise.
- Errors are \`{ "error": string }\`. Show the sentence; decide by the status and the header \`Error-Code\`.
- Wait for the seconds in \`Retry-After\` after 429 or 503. Send an \`Idempotency-Key\` with a POST that creates, so that
  repeating it is safe.`
}

export function indexText(document: Document): string {
  const guides = GUIDES.map(({ name, title, description }) => `- [${title}](docs/${name}.md): ${description}`)
  const groups = document.tags.flatMap(({ name }) => [
    '',
    `## ${name}`,
    '',
    ...document.operations
      .filter(({ tags }) => tags[0] === name)
      .map(({ operationId, summary, method, path }) => `- [${summary}](docs/${operationId}.md): \`${method} ${path}\``),
  ])
  const lines = [
    introduction(document),
    '',
    '## Guides',
    '',
    ...guides,
    '- [Everything in one file](llms-full.txt): the guides and all operations with parameters, responses and examples',
    '- [OpenAPI 3.1 document](openapi.json): the schemas, for programs',
    ...groups,
    '',
    '## Optional',
    '',
    '- [API reference](docs): a page for people, with a form to send each request',
    '- [Health](health): whether this deployment can serve requests; needs no API key',
  ]
  return `${lines.join('\n')}\n`
}

export function fullText(document: Document): string {
  const operations = document.tags.flatMap(({ name, description }) => [
    `# ${name}\n\n${description}\n`,
    ...document.operations
      .filter(({ tags }) => tags[0] === name)
      .map((operation) => operationMarkdown(document, operation, 2)),
  ])
  const [first] = document.operations
  const unavailable = document.operations.find(({ responses }) => '503' in responses)
  return [
    `${introduction(document)}\n`,
    ...GUIDES.map((guide) => guideMarkdown(guide).replaceAll(/\]\((\w+)\.md/g, '](docs/$1.md')),
    `# Operations\n\n- 500: ${first?.responses['500']?.description}\n- 503: ${unavailable?.responses['503']?.description}\n- ${first?.responses.default?.description}\n`,
    ...operations,
  ].join('\n')
}
