/** The pages speak to people: no operation of the API and no parameter, neither in their texts nor in its errors. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../../test/support/commands.ts'
import { messageOf } from '../../web/src/errors.ts'

const FOR_PROGRAMS = /\b(?:GET|PUT|POST|PATCH|DELETE) |\/v1\/|\bthis \w+Id\b|\{\w+Id\}/

const sourcesOf = (pattern: string) =>
  globSync(pattern, { cwd: ROOT }).map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const)

it('of each error of the service', () => {
  // Such as that of `failure('run_not_found', 'There is no run with this runId.')`.
  const texts = sourcesOf('src/**/*.ts').flatMap(([, source]) =>
    Array.from(source.matchAll(/failure\(\s*'\w+',\s*['`]([A-Z].*)['`]/g), ([, text = '']) =>
      text.replace(/(?<!\/)\$?\{\w+\}/g, 'x'),
    ),
  )
  expect(texts.filter((text) => FOR_PROGRAMS.test(text)).length).toBeGreaterThan(10)
  expect(texts.map((text) => messageOf(new Error(text))).filter((text) => FOR_PROGRAMS.test(text))).toEqual([])
})

it.each([
  ['There is no project with this projectId.', 'There is no such project.'],
  [
    'The agent was deleted, and its ID is never used again. GET /v1/deletions lists what can be restored.',
    'The agent was deleted, and its ID is never used again. The page Deleted lists what can be restored.',
  ],
  [
    'Delete some first. What was deleted counts as long as it can be restored; DELETE /v1/deletions/{id} removes it for good.',
    'Delete some first. What was deleted counts as long as it can be restored; the page Deleted removes it for good.',
  ],
  [
    'This API key lacks the scope "runs:read". Use a key that has it; GET /v1/me shows the scopes of a key.',
    'This API key lacks the scope "runs:read". Use a key that has it.',
  ],
  ['The run is claimed. Send its claimId.', 'The run is claimed.'],
  [
    'url is not a URL; got a string; allowed: an https URL of a public host, such as "https://hooks.example.com/path".',
    'This is not a URL. Allowed: an https URL of a public host, such as "https://hooks.example.com/path".',
  ],
  [
    'url has a fragment ("#…"); got "https://a.example"; allowed: an https URL of a public host or a URL of localhost, such as "https://b.example/".',
    'The URL has a fragment ("#…"). Allowed: an https URL of a public host or a URL of localhost, such as "https://b.example/".',
  ],
])('%s', (text, words) => {
  expect(messageOf(new Error(text))).toBe(words)
})

it('of each page', () => {
  const texts = sourcesOf('console/web/src/**/*.tsx').flatMap(([file, source]) =>
    source
      .split('\n')
      .filter((line) => /(?:GET|PUT|POST|PATCH|DELETE) \/|\/v1\//.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(texts).toEqual([])
})
