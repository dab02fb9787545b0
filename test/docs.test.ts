/** The reference page: its files, and what their headers let a browser do. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import worker from '../src/index.ts'
import { ORIGIN, PREFIX } from './support/api.ts'

const BASE_PATHS = ['', PREFIX]
const FILES = [
  ['/docs', 'text/html'],
  ['/docs/page.js', 'text/javascript'],
  ['/docs/viewer.js', 'text/javascript'],
  ['/docs/viewer-licence.txt', 'text/plain'],
] as const

/** As a browser's request arrives: what is sent on is not followed on the way. */
async function ask(path: string, method = 'GET', headers: Record<string, string> = {}) {
  const context = createExecutionContext()
  const request = new Request(ORIGIN + path, { method, headers, redirect: 'manual' })
  const response = await worker.fetch(request, env, context)
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The directives of a Content-Security-Policy. */
function directivesOf(policy: string | null): Record<string, string> {
  const directives = (policy ?? '').split(/ *; */).map((directive) => directive.split(/ (.*)/))
  return Object.fromEntries(directives)
}

describe.each(BASE_PATHS)('the reference page under "%s"', (basePath) => {
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

  it('has a policy for the page alone', async () => {
    for (const path of ['/docs/page.js', '/docs/nothing', '/openapi.json', '/v1/skills/docs', '/health']) {
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
    const other = await ask(basePath + path, 'GET', { 'If-None-Match': '"another"' })
    expect(other.status).toBe(200)

    const head = await ask(basePath + path, 'HEAD')
    expect([head.status, head.headers.get('ETag'), head.text]).toEqual([200, etag, ''])
  })

  it('answers 405 to other methods', async () => {
    for (const path of ['/docs', '/docs/page.js']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await ask(basePath + path, method)
        expect([path, method, status, headers.get('Allow')]).toEqual([path, method, 405, 'GET, HEAD'])
      }
    }
  })

  it.each([
    '/docs/',
    '/docs/nothing.js',
    '/docs/page.js/',
    '/docs/a/b',
    '/docs.html',
    '/docs/%70age.js',
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

describe('the files of the page', () => {
  it('name no address of another place, and no address from the root', async () => {
    for (const path of ['/docs', '/docs/page.js']) {
      const { text } = await ask(path)
      expect(text).not.toMatch(/https?:|['"]\/|@import/)
    }
    expect((await ask('/docs')).text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/)
  })

  it('name every file of the page, and no other', async () => {
    const named = Array.from(
      (await ask('/docs')).text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g),
      ([, file]) => file,
    )
    expect(named.sort()).toEqual(['docs/page.js', 'docs/viewer.js', 'openapi.json'])
  })

  it('have the licence of the viewer', async () => {
    expect((await ask('/docs/viewer-licence.txt')).text).toMatch(/^MIT License[\s\S]+Scalar/)
  })
})
