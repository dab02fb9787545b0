import { expect, it } from 'vitest'
import { closest, closestName, closestPath } from '../../src/http/closest.ts'

const NAMES = ['cron', 'timezone', 'expiresAt', 'projectIds', 'url']

it.each([
  ['Cron', 'cron'],
  ['corn', 'cron'],
  ['cro', 'cron'],
  ['crron', 'cron'],
  ['time_zone', 'timezone'],
  ['Time-Zone', 'timezone'],
  ['timezoen', 'timezone'],
  ['tmezon', 'timezone'],
  ['expires', 'expiresAt'],
  ['expiresAtTime', 'expiresAt'],
  ['project', 'projectIds'],
  ['URL', 'url'],
  ['tz', undefined],
  ['name', undefined],
  ['', undefined],
  ['__proto__', undefined],
  ['x'.repeat(60_000), undefined],
  ['timezone'.padEnd(501, 'x'), undefined],
])('%s means %s', (name, meant) => {
  expect(closestName(name, NAMES)).toBe(meant)
})

it('prefers the candidate with the fewest typing errors', () => {
  expect(closest('pins:rite', ['pins:read', 'pins:write'])).toBe('pins:write')
  expect(closest('pins', ['pins:read', 'pins:write'])).toBeUndefined()
})

const TEMPLATES = [
  '/v1/runs',
  '/v1/runs/{runId}',
  '/v1/projects/{projectId}/schedules',
  '/v1/projects/{projectId}',
  '/health',
]

it.each([
  ['/v1/run', '/v1/runs'],
  ['/run/7', '/v1/runs/{runId}'],
  ['//api//v3//runs//', '/v1/runs'],
  ['/v1/Projects/website/Schedule', '/v1/projects/{projectId}/schedules'],
  ['/v1/projects//schedules', '/v1/projects/{projectId}/schedules'],
  ['/v1/health', '/health'],
  ['/', undefined],
  ['/v1', undefined],
  ['/v1/', undefined],
  ['/v1/runs/7/8', undefined],
  [`/v1/${'x'.repeat(16_000)}`, undefined],
  [`/v1${'/'.repeat(16_000)}`, undefined],
])('the path %s means %s', (path, meant) => {
  expect(closestPath(path, TEMPLATES)).toBe(meant)
})
