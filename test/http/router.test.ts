import { TrieRouter } from 'hono/router/trie-router'
import { describe, expect, test } from 'vitest'
import { honoPath } from '../../src/http/mount.ts'
import { ResourceRouter } from '../../src/http/router.ts'
import { operations } from '../../src/operations.ts'

const ROUTES = [
  ['ALL', '*'],
  ...operations.map(({ method, path }) => [method, honoPath(path)] as const),
  ['GET', '/health'],
  ['ALL', '/mcp'],
  ['POST', '/mcp'],
  ['GET', '/feeds/:token/.well-known/agent-skills/:file'],
  ['GET', '/'],
] as const

const trie = new TrieRouter<string>()
const router = new ResourceRouter<string>()
for (const each of [trie, router]) for (const [method, path] of ROUTES) each.add(method, path, `${method} ${path}`)

describe('the router finds the routes that a trie of all of them finds', () => {
  test.for(ROUTES)('%s %s', ([method, path]) => {
    const sent = path.replaceAll(/:\w+/g, 'some%2Fid')
    expect(router.match(method, sent)).toEqual(trie.match(method, sent))
    expect(router.match('DELETE', `${sent}/more`)).toEqual(trie.match('DELETE', `${sent}/more`))
  })

  test.for([
    '/v1',
    '/v1/',
    '/v1/none',
    '/v1//pins',
    '//v1/pins',
    '/v1/pins/',
    '/v1/%70ins',
    '/V1/pins',
    '/v1/__proto__',
    '',
  ])('GET %s', (path) => {
    expect(router.match('GET', path)).toEqual(trie.match('GET', path))
  })
})
