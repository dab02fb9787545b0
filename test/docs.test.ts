/** The pages and what agents read: their files, their links, and what their headers let a browser do. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { ROLES } from '../src/access/roles.ts'
import { SCOPES } from '../src/access/scopes.ts'
import worker from '../src/index.ts'
import { loadOperations, operations } from '../src/operations.ts'
import { ORIGIN, PREFIX } from './support/api.ts'
import { deployed, env } from './support/env.ts'

const BASE_PATHS = ['', PREFIX]
const VIEWER = /docs\/viewer-[0-9a-f]{16}\.js/
const SCRIPT = /docs\/reference-[0-9a-f]{16}\.js/
const nameIn = (page: string, pattern: RegExp) => `/${pattern.exec(page)?.[0]}`
const page = (await ask('/docs')).text

const FILES = [
  ['/', 'application/json'],
  ['/openapi.json', 'application/json'],
  ['/llms.txt', 'text/plain'],
  ['/llms-full.txt', 'text/plain'],
  ['/docs', 'text/html'],
  ['/docs/contract', 'text/html'],
  ['/docs/contract.md', 'text/markdown'],
  ['/docs/updatePin.md', 'text/markdown'],
  ['/docs/viewer-licence.txt', 'text/plain'],
  [nameIn(page, VIEWER), 'text/javascript'],
  [nameIn(page, SCRIPT), 'text/javascript'],
] as const
const HTML = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

/** Sends a request as a browser's arrives: what is sent on is not followed on the way. */
async function ask(path: string, method = 'GET', headers: Record<string, string> = {}) {
  const context = createExecutionContext()
  const request = new Request(ORIGIN + path, { method, headers, redirect: 'manual' })
  const response = await worker.fetch(request, deployed(env), context)
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The directives of a Content-Security-Policy. */
function directivesOf(policy: string | null): Record<string, string> {
  const directives = (policy ?? '').split(/ *; */).map((directive) => directive.split(/ (.*)/))
  return Object.fromEntries(directives)
}

describe.each(BASE_PATHS)('the home page under "%s"', (basePath) => {
  const home = `${basePath}/`

  it('is HTML for browsers, without scripts, styles or pictures of other files', async () => {
    const { status, headers, text } = await ask(home, 'GET', HTML)
    expect([status, headers.get('Content-Type'), headers.get('Vary')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Accept',
    ])
    expect(directivesOf(headers.get('Content-Security-Policy'))).toEqual({
      'default-src': "'none'",
      'style-src': "'unsafe-inline'",
      'img-src': 'data:',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
    expect(text).toContain(`<small>${packageJson.version}</small>`)
    expect(text).not.toMatch(/<script|\son\w+=|https?:|@import|url\(/)
  })

  it('has links to pages that exist, where no two headings have the same address', async () => {
    const { text } = await ask(home, 'GET', HTML)
    const links = Array.from(text.matchAll(/<a href="([^"]+)"/g), ([, link = '']) => link)
    expect(links).toEqual([
      'docs',
      'openapi.json',
      'llms.txt',
      'llms-full.txt',
      'health',
      'docs/contract',
      'docs/keys',
      'docs/resources',
      'docs/work',
      'docs/clients',
      'docs/client',
      'docs/command',
      'docs/people',
      'docs/schedules',
      'docs/events',
      'docs/mcp',
    ])
    for (const link of links) {
      const { pathname } = new URL(link, ORIGIN + home)
      const { status, text } = await ask(pathname)
      expect([link, status]).toEqual([link, 200])
      const ids = Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id)
      expect([link, ids]).toEqual([link, [...new Set(ids)]])
    }
  })

  it.each<[string, Record<string, string>]>([
    ['without Accept', {}],
    ['for any type', { Accept: '*/*' }],
    ['where JSON is preferred', { Accept: 'text/html;q=0.5, application/json' }],
  ])('is JSON with the same links %s', async (_name, headers) => {
    const answer = await ask(home, 'GET', headers)
    expect([answer.status, answer.headers.get('Content-Type'), answer.headers.get('Vary')]).toEqual([
      200,
      'application/json',
      'Accept',
    ])
    expect(JSON.parse(answer.text)).toEqual({
      name: 'Workspace API',
      version: packageJson.version,
      description: expect.stringContaining('Workspace API stores'),
      links: {
        reference: './docs',
        openapi: './openapi.json',
        llms: './llms.txt',
        llmsFull: './llms-full.txt',
        mcp: './mcp',
        health: './health',
        guides: {
          contract: './docs/contract',
          keys: './docs/keys',
          resources: './docs/resources',
          work: './docs/work',
          clients: './docs/clients',
          client: './docs/client',
          command: './docs/command',
          people: './docs/people',
          schedules: './docs/schedules',
          events: './docs/events',
          mcp: './docs/mcp',
        },
      },
    })
  })

  it.each([HTML, {}])('answers 304 and HEAD, with %j', async (accept) => {
    const first = await ask(home, 'GET', accept)
    const etag = first.headers.get('ETag') ?? ''
    const again = await ask(home, 'GET', { ...accept, 'If-None-Match': etag })
    expect([again.status, again.headers.get('Vary')]).toEqual([304, 'Accept'])
    const policy = 'Content-Security-Policy'
    expect(again.headers.get(policy)).toBe(first.headers.get(policy))
    const head = await ask(home, 'HEAD', accept)
    expect([head.status, head.headers.get('ETag'), head.text]).toEqual([200, etag, ''])
  })

  it('is not confused by the representation that the other ETag names', async () => {
    const etag = (await ask(home)).headers.get('ETag') ?? ''
    expect((await ask(home, 'GET', { ...HTML, 'If-None-Match': etag })).status).toBe(200)
  })
})

describe('other spellings of an address', () => {
  it.each([
    ['/docs/', '/docs'],
    [`${PREFIX}/docs/`, `${PREFIX}/docs`],
    [PREFIX, `${PREFIX}/`],
  ])('%s redirects to %s', async (path, target) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask(path, method)
      const location = new URL(headers.get('Location') ?? '', ORIGIN + path)
      expect([status, location.href]).toEqual([308, ORIGIN + target])
    }
  })
})

describe.each(BASE_PATHS)('the files of public/ under "%s"', (basePath) => {
  it.each(FILES)('serves %s without a key', async (path, mediaType) => {
    const { status, headers, text } = await ask(basePath + path)
    expect([status, headers.get('Content-Type')?.split(';')[0]]).toEqual([200, mediaType])
    expect(text.length).toBeGreaterThan(100)
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
  })

  it('lets the page run its own scripts and call its own origin, and nothing else', async () => {
    const first = await ask(`${basePath}/docs`)
    const policy = {
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self' 'unsafe-inline'",
      'img-src': "'self' data: blob:",
      'font-src': "'self' data:",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    }
    expect(directivesOf(first.headers.get('Content-Security-Policy'))).toEqual(policy)
    const headers = { 'If-None-Match': first.headers.get('ETag') ?? '' }
    const again = await ask(`${basePath}/docs`, 'GET', headers)
    expect(again.status).toBe(304)
    expect(directivesOf(again.headers.get('Content-Security-Policy'))).toEqual(policy)
  })

  it('has a policy for pages alone', async () => {
    for (const path of [
      nameIn(page, SCRIPT),
      '/docs/contract.md',
      '/llms.txt',
      '/docs/nothing',
      '/openapi.json',
      '/v1/skills/docs',
      '/health',
    ]) {
      const { headers } = await ask(basePath + path)
      const policy = directivesOf(headers.get('Content-Security-Policy'))
      expect([path, policy]).toEqual([path, { 'default-src': "'none'", 'frame-ancestors': "'none'" }])
    }
  })

  it.each(FILES)('%s is asked for again by its ETag, and has a HEAD', async (path) => {
    const { headers } = await ask(basePath + path)
    const etag = headers.get('ETag') ?? ''
    expect(etag).not.toBe('')
    const again = await ask(basePath + path, 'GET', { 'If-None-Match': etag })
    expect([again.status, again.headers.get('ETag'), again.text]).toEqual([304, etag, ''])
    for (const [tags, status] of [
      ['*', 304],
      [`"another", W/${etag}`, 304],
      ['"another"', 200],
    ] as const) {
      const other = await ask(basePath + path, 'GET', { 'If-None-Match': tags })
      expect([tags, other.status]).toEqual([tags, status])
    }

    const head = await ask(basePath + path, 'HEAD')
    expect([head.status, head.headers.get('ETag'), head.text]).toEqual([200, etag, ''])
  })

  it('lets browsers keep a script for good, and ask again for everything else', async () => {
    for (const [path] of FILES) {
      const isHashed = VIEWER.test(path) || SCRIPT.test(path)
      const expected = isHashed ? 'public, max-age=31536000, immutable' : 'private, no-cache'
      expect([path, (await ask(basePath + path)).headers.get('Cache-Control')]).toEqual([path, expected])
    }
    const missing = await ask(`${basePath}/docs/viewer-0123456789abcdef.js`)
    expect([missing.status, missing.headers.get('Cache-Control')]).toEqual([404, 'no-store'])
  })

  it('answers 405 to other methods', async () => {
    for (const path of ['/', '/docs', '/llms.txt', '/docs/contract']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await ask(basePath + path, method)
        expect([path, method, status, headers.get('Allow')]).toEqual([path, method, 405, 'GET, HEAD'])
      }
    }
  })

  it.each([
    '/index.html',
    '/index.json',
    '/docs/nothing.js',
    '/docs/contract/',
    '/docs/a/b',
    '/docs/nothing.md',
    '/docs.html',
    '/docs/contract.html',
    '/docs/%63ontract.md',
    '/docs/..%2fopenapi.json',
    '/docs/%2e%2e%2fopenapi.json',
    '/docs/%',
    '/docs/index.html',
    '/page.js',
  ])('%s is 404', async (path) => {
    const { status, headers } = await ask(basePath + path)
    expect([status, headers.has('Location')]).toEqual([404, false])
  })
})

describe('a guide', () => {
  it.each(['/docs/contract', '/docs/people', '/docs/command'])(
    '%s has a table of contents of its sections',
    async (path) => {
      const { text } = await ask(path)
      const [, contents = ''] = /<nav aria-label="On this page">([\s\S]*?)<\/nav>/.exec(text) ?? []
      const listed = Array.from(contents.matchAll(/<a href="#([^"]+)">([^<]+)<\/a>/g), ([, id, title]) => [id, title])
      const sections = Array.from(text.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g), ([, id, title = '']) => [
        id,
        title.replaceAll(/<[^>]+>/g, ''),
      ])
      expect(listed).toEqual(sections)
      expect(sections.length).toBeGreaterThan(3)
    },
  )

  it('has links to the client and the command', async () => {
    const { text } = await ask('/docs/schedules')
    for (const link of ['client', 'command']) expect(text).toContain(`<a href="${link}">`)
  })
})

describe('the reference page', () => {
  it('names no address of another place, and no address from the root', async () => {
    const script = (await ask(nameIn(page, SCRIPT))).text
    for (const text of [page, script]) expect(text).not.toMatch(/https?:|['"]\/|@import/)
    expect(page).not.toMatch(/<script(?![^>]* src=)|\son\w+=|\sstyle=/)
  })

  it('loads its viewer, its script and the document, and nothing else', () => {
    const loaded = Array.from(
      page.matchAll(/<(?:script|link)[^>]* (?:src|href)="(?!data:)([^"]+)"/g),
      ([, file]) => file,
    )
    expect(loaded.sort()).toEqual([expect.stringMatching(SCRIPT), expect.stringMatching(VIEWER), 'openapi.json'])
  })

  it('lists every operation before its viewer is loaded', async () => {
    const links = Array.from(page.matchAll(/href="(docs\/\w+\.md)"/g), ([, link]) => link)
    expect(links).toHaveLength(operations.length)
    for (const { contract } of await loadOperations()) {
      expect(links).toContain(`docs/${contract.operationId}.md`)
    }
  })

  it('has the licence of the viewer', async () => {
    expect((await ask('/docs/viewer-licence.txt')).text).toMatch(/^MIT License[\s\S]+Scalar/)
  })
})

describe('what agents read', () => {
  it('has the form of llmstxt.org: a title, a summary, and sections of links', async () => {
    const { text } = await ask('/llms.txt')
    expect(text).toMatch(
      new RegExp(`^# Workspace API ${packageJson.version.replaceAll('.', '\\.')}\n\n> [A-Z].+\n\n- `),
    )
    const [, ...sections] = text.split('\n## ')
    for (const section of sections) {
      const [, blank, ...items] = section.trimEnd().split('\n')
      expect(blank).toBe('')
      for (const item of items) expect(item).toMatch(/^- \[[^\]]+\]\([\w./-]+\): \S/)
    }
  })

  it.each(BASE_PATHS)('has links that work, one for each operation, under "%s"', async (basePath) => {
    const { text } = await ask(`${basePath}/llms.txt`)
    const links = Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, link = '']) => link)
    for (const { contract } of await loadOperations()) {
      expect(links).toContain(`docs/${contract.operationId}.md`)
    }
    for (const link of links) {
      const { pathname } = new URL(link, `${ORIGIN}${basePath}/llms.txt`)
      expect([link, (await ask(pathname)).status]).toEqual([link, 200])
    }
  })

  it.each([
    '/docs/contract.md',
    '/docs/keys.md',
    '/docs/resources.md',
    '/docs/work.md',
    '/docs/clients.md',
    '/docs/client.md',
    '/docs/command.md',
    '/docs/people.md',
    '/docs/schedules.md',
    '/docs/updatePin.md',
    '/llms-full.txt',
  ])('has links in %s that work', async (file) => {
    const { text } = await ask(file)
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const { origin, pathname } = new URL(link, ORIGIN + file)
      if (origin === ORIGIN) expect([link, (await ask(pathname)).status]).toEqual([link, 200])
      else
        expect(link).toMatch(
          /^https:\/\/(www\.standardwebhooks\.com|openapi-ts\.dev\/openapi-fetch\/|modelcontextprotocol\.io(\/extensions\/skills\/overview)?)$/,
        )
    }
  })

  it('has the guides for API users and every operation in one file, and no page for operators', async () => {
    const { text } = await ask('/llms-full.txt')
    const titles = ['API contract', 'Write a client', 'TypeScript client', 'The command `workspace`', 'Add a person']
    for (const title of [...titles, 'Schedule work and receive its runs']) {
      expect(text).toContain(`\n# ${title}\n`)
    }
    for (const { contract } of await loadOperations()) {
      expect(text).toContain(`\n## ${contract.summary}\n\n\`${contract.method} ${contract.path}\``)
    }
    expect(text).not.toContain('npm run deploy -- ')
    // A model reads it at once.
    expect(text.length).toBeLessThan(520_000)
  })

  it('describes an operation with its parameters, bodies, errors and an example', async () => {
    const { text } = await ask('/docs/updatePin.md')
    for (const line of [
      '# Update a pin',
      '`PATCH /v1/pins/{resourceType}/{resourceId}` (`updatePin`)',
      '- `resourceType` (path, "session" or "pull_request" or "project"): The type of the pinned resource.',
      'Body (application/json)',
      '  - `target` (object)',
      '    - `id` (uuid): The ID of the resource of the target pin.',
      '{"updated":true}',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
    expect(text).toMatch(/^- 409: .+`pin_limit`\.$/m)
    expect(text).toMatch(
      /^curl -X PATCH "\$WORKSPACE_URL\/v1\/pins\/session\/[0-9a-f-]{36}" .+"position":"(before|after)"/m,
    )
  })
})

describe('docs/people.md', () => {
  it('has the scopes of each role', async () => {
    const { text } = await ask('/docs/people.md')
    const rows = Array.from(text.matchAll(/^\| (viewer|member|admin) +\| (.+?) +\|$/gm), ([, role, may = '']) => [
      role,
      may,
    ])
    const names = (scopes: readonly string[]) => scopes.map((scope) => `\`${scope}\``).join(', ')
    const { viewer, member, admin } = ROLES
    expect(rows).toEqual([
      ['viewer', 'all that end in `:read`'],
      ['member', `those, and ${names(member.filter((scope) => !viewer.includes(scope)))}`],
      ['admin', `all but ${names(SCOPES.filter((scope) => !admin.includes(scope)))}`],
    ])
    expect(viewer).toEqual(SCOPES.filter((scope) => scope.endsWith(':read')))
    expect(member.filter((scope) => viewer.includes(scope))).toEqual(viewer)
  })
})
