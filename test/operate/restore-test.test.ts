/**
 * Whether a backup can be relied on, and each way in which it cannot.
 * @module-tag slow
 */
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'dotenv'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '../../tools/wrangler.ts'
import { callScript, runScript } from '../support/commands.ts'
import { freePort, newFolder, startDevServer, stopDevServer } from '../support/dev-server.ts'

const state = newFolder()
const folder = newFolder()
const whole = join(folder, 'whole')
const backup = join(whole, 'monday')
const keys = () => parse(readFileSync(join(ROOT, '.dev.vars'))).ENCRYPTION_KEYS ?? ''
const told: string[] = []
const receiver = createServer((request, response) => {
  request.on('data', (data) => told.push(JSON.parse(String(data)).text))
  request.on('end', () => response.end())
})

beforeAll(async () => {
  const server = await startDevServer(state, await freePort(), '--no-console')
  mkdirSync(whole)
  await callScript('operate backup', '--output', backup, '--with-objects', '--persist-to', state)
  await stopDevServer(server)
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
})
afterAll(() => {
  receiver.close()
  for (const each of [state, folder]) rmSync(each, { recursive: true })
})

/** @param environment beside the keys. */
const test = (input: string, environment: Record<string, string> = {}, ...args: string[]) =>
  runScript('operate restore-test', ['--input', input, '--with-objects', ...args], {
    ENCRYPTION_KEYS: keys(),
    ...environment,
  })

it('a whole backup passes, and nothing is left or changed', async () => {
  const before = readdirSync(whole, { recursive: true }).sort()
  const { status, stdout, stderr } = await test(backup, {}, '--max-age', '1')
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/database-0\.sqlite: [\d,]+ rows, [\d,]+ bytes\n[1-9]\d* secrets open\n/)
  expect(stdout).toMatch(/objects: [1-9]\d* objects\n(?:.*\n)*The backup can be restored\.\n$/)
  expect(readdirSync(whole, { recursive: true }).sort()).toEqual(before)
})

it('without the keys, it says that the secrets were not opened', async () => {
  const { status, stdout } = await test(backup, { ENCRYPTION_KEYS: '' })
  expect([status, stdout.includes('Secrets were not opened: ENCRYPTION_KEYS is not set.')]).toEqual([0, true])
})

const inFirst = (copy: string, sql: string) => {
  const database = new DatabaseSync(join(copy, 'monday', 'database-0.sqlite'))
  database.exec(sql)
  database.close()
}
const firstObject = (copy: string) => {
  const [file] = readdirSync(join(copy, 'objects'), { recursive: true, withFileTypes: true }).filter(
    (each) => each.isFile() && each.parentPath.includes('session-files'),
  )
  return join(file?.parentPath ?? '', file?.name ?? '')
}

it.each<[what: string, damage: (copy: string) => void, message: RegExp, environment?: Record<string, string>]>([
  [
    'is cut',
    (copy) => truncateSync(join(copy, 'monday', 'database-1.sqlite'), 40_000),
    /database-1\.sqlite can't be restored: /,
  ],
  [
    'has no file of a database',
    (copy) => rmSync(join(copy, 'monday', 'database-1.sqlite')),
    /The backup is incomplete: /,
  ],
  [
    'counts other rows',
    (copy) => inFirst(copy, 'UPDATE "organizationUsage" SET "files" = "files" + 1'),
    /The organization [0-9a-f-]{36} has other rows than it counted\./,
  ],
  [
    'has a secret that was altered',
    (copy) =>
      inFirst(
        copy,
        `UPDATE "environmentVariables" SET "sealedValue" = "sealedValue" || 'A' WHERE "key" = (SELECT min("key") FROM "environmentVariables")`,
      ),
    /Secrets that do not open: \d+ of the key dev-1, which are damaged\./,
  ],
  [
    'needs another key',
    () => {},
    /Secrets that do not open: \d+ of the key dev-1, which ENCRYPTION_KEYS lacks\./,
    { ENCRYPTION_KEYS: `other:${Buffer.alloc(32).toString('base64')}` },
  ],
  [
    'has an object with another content',
    (copy) => {
      const file = firstObject(copy)
      writeFileSync(file, Buffer.from(readFileSync(file)).fill('x'))
    },
    /Objects that are missing or have another content: 1, session-files\//,
  ],
  [
    'lacks an object',
    (copy) => rmSync(firstObject(copy)),
    /Objects that are missing or have another content: 1, session-files\//,
  ],
  [
    'lost rows that nothing counts',
    (copy) => inFirst(copy, 'DELETE FROM "pins"'),
    /database-0\.sqlite was changed since it was written\./,
  ],
  [
    'is older than it may be',
    (copy) => {
      const file = join(copy, 'monday', 'manifest.json')
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(/"createdAt": "[^"]+"/, '"createdAt": "2026-01-01T00:00:00Z"'),
      )
    },
    /It is [\d.]+ hours old\./,
  ],
  ['is not there', (copy) => rmSync(join(copy, 'monday'), { recursive: true }), /It does not exist\./],
  ['is tested with a malformed key', () => {}, /ENCRYPTION_KEYS is not a list of keys/, { ENCRYPTION_KEYS: 'x' }],
])('a backup that %s fails, and the operator is told', async (_, damage, message, environment = {}) => {
  const copy = join(newFolder(), 'copy')
  cpSync(whole, copy, { recursive: true })
  damage(copy)
  told.length = 0
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const { status, stderr } = await test(
    join(copy, 'monday'),
    { ...environment, OPERATOR_ALERT_URL: url },
    '--max-age',
    '24',
  )
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)])
  expect(told).toEqual([expect.stringMatching(message)])
  rmSync(copy, { recursive: true })
})
