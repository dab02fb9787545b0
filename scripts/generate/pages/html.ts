/**
 * The pages for people. They need no script, except the viewer of the reference page, and nothing of another origin.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked } from 'marked'
import { DESCRIPTION, GUIDES, type Guide, guideMarkdown } from './guides.ts'
import type { Document } from './operations.ts'

interface Link {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly isPage?: boolean
}

/** The links of the home page, relative to it. A browser can open those that are pages. */
const LINKS: Record<string, Link> = {
  reference: { path: 'docs', title: 'API reference', description: 'every operation, to read and to try' },
  openapi: { path: 'openapi.json', title: 'OpenAPI document', description: 'the schemas, for programs' },
  llms: { path: 'llms.txt', title: 'llms.txt', description: 'an index of the documentation, for agents' },
  llmsFull: { path: 'llms-full.txt', title: 'llms-full.txt', description: 'all of it in one file' },
  mcp: { path: 'mcp', title: 'mcp', description: 'the MCP server, for agents', isPage: false },
  health: { path: 'health', title: 'Health', description: 'whether this deployment can serve requests' },
}

const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8')

export function homeJson({ info }: Document): string {
  const links = Object.entries(LINKS).map(([name, { path }]) => [name, `./${path}`])
  const guides = GUIDES.map(({ name }) => [name, `./docs/${name}`])
  const home = {
    name: info.title,
    version: info.version,
    description: DESCRIPTION,
    links: { ...Object.fromEntries(links), guides: Object.fromEntries(guides) },
  }
  return `${JSON.stringify(home)}\n`
}

export function homeHtml({ info }: Document): string {
  const item = ({ path, title, description, isPage = true }: Link) =>
    `<li>${isPage ? `<a href="${path}">${title}</a>` : `<code>${title}</code>`}: ${description}</li>`
  return page(
    info.title,
    `<main class="text">
<h1>${info.title} <small>${info.version}</small></h1>
<p>${DESCRIPTION}</p>
<nav aria-label="Documentation">
<ul>
${Object.values(LINKS).map(item).join('\n')}
</ul>
<h2>Guides</h2>
<ul>
${GUIDES.map(({ name, ...guide }) => item({ path: `docs/${name}`, ...guide })).join('\n')}
</ul>
</nav>
</main>`,
  )
}

/** A guide, with a table of contents of its sections and links to what its readers work with. */
export function guideHtml(guide: Guide): string {
  const sections: string[] = []
  const body = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens)
        if (depth === 2) sections.push(`<li><a href="#${slugOf(text)}">${text.replaceAll(/<[^>]+>/g, '')}</a></li>`)
        return `<h${depth} id="${slugOf(text)}">${text}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${href.replace(/^(\w+)\.md/, '$1')}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  }).parse(guideMarkdown(guide), { async: false })
  const contents = `<nav aria-label="On this page">\n<ul class="contents">\n${sections.join('\n')}\n</ul>\n</nav>\n`
  const scrollable = body
    .replaceAll('<table>', '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>')
  return page(
    `Workspace API: ${guide.title}`,
    `<header class="text"><a href="../">Workspace API</a> · <a href="../docs">API reference</a> · <a href="client">TypeScript client</a> · <a href="command">Command</a> · <a href="${guide.name}.md">Markdown</a></header>
<main class="text">
${scrollable.replace('</h1>\n', (end) => end + contents)}</main>`,
  )
}

/** The reference page. Until the viewer has replaced it, its content is a list of all operations. */
export function referenceHtml({ info, tags, operations }: Document, viewer: string, script: string): string {
  const groups = tags.map(({ name }) => {
    const items = operations
      .filter((operation) => operation.tags[0] === name)
      .map(
        ({ operationId, summary, method, path }) =>
          `<li><a href="docs/${operationId}.md">${summary}</a>: <code>${method} ${path}</code></li>`,
      )
    return `<h2>${name}</h2>\n<ul>\n${items.join('\n')}\n</ul>`
  })
  return page(
    `${info.title}: reference`,
    `<main id="reference">
<div class="text">
<h1>${info.title}</h1>
<p>${DESCRIPTION}</p>
<p>The page to try each operation is loading; the first time, it is 1.3 MB, and it needs JavaScript. Until then, these are the operations as text. See also <a href="llms.txt">llms.txt</a> and <a href="openapi.json">openapi.json</a>.</p>
${groups.join('\n')}
</div>
</main>`,
    `
<link rel="preload" href="openapi.json" as="fetch" crossorigin>
<script src="${viewer}" defer></script>
<script src="${script}" type="module"></script>`,
  )
}

/** The page of claim links. Its script sends the token of the link when the button is pressed. */
export function claimHtml(script: string): string {
  return page(
    'Workspace API: claim an API key',
    `<main class="text">
<h1>Claim an API key</h1>
<div id="intro">
<p>This link shows an API key of your deployment, once. Have your password manager ready: the service stores only a hash of the key and cannot show it again.</p>
<p><button type="button" disabled>Show the API key</button></p>
<p id="failure" role="alert" hidden></p>
<noscript><p>This page needs JavaScript.</p></noscript>
</div>
<div id="result" hidden>
<h2 tabindex="-1">Your API key</h2>
<p><code id="key"></code></p>
<p><button type="button" id="copy">Copy</button></p>
<p>Store it in your password manager now. It belongs to the organization <code id="organization"></code>. If it is lost, create another one with <code>npm run operate -- bootstrap</code>.</p>
<p>To try it:</p>
<pre><code id="try"></code></pre>
<p>Next: <a href="docs">API reference</a>, <a href="docs/people">Add a person</a></p>
</div>
</main>`,
    `
<script src="${script}" type="module"></script>`,
  )
}

function page(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>
${style}</style>${head}
</head>
<body>
${body}
</body>
</html>
`
}

/** The anchor of a heading, as GitHub makes it. */
function slugOf(html: string): string {
  const text = html.replaceAll(/<[^>]+>|&[a-z0-9#]+;/g, '').toLowerCase()
  return text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
}
