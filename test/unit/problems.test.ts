import { describe, expect, it } from 'vitest'
import type { Contract } from '../../src/http/contract.ts'
import { describeProblems, describeSent } from '../../src/http/problems.ts'
import { createApiKeyContract, rotateApiKeyContract } from '../../src/resources/api-keys/contract.ts'
import { setEnvironmentVariablesContract } from '../../src/resources/environment-variables/contract.ts'
import { updatePinContract } from '../../src/resources/pins/contract.ts'
import { putRunEndpointContract } from '../../src/resources/run-endpoint/contract.ts'
import {
  createProjectScheduleContract,
  previewScheduleContract,
  projectScheduleContracts,
} from '../../src/resources/schedules/contract.ts'
import { listSessionFilesContract } from '../../src/resources/session-files/contract.ts'
import { createSkillContract, updateSkillContract } from '../../src/resources/skills/contract.ts'

/** What the operation says of input that is wrong. */
function problemsOf(contract: Contract, part: 'body' | 'params' | 'query', data: unknown): string {
  const schema = contract[part]
  const error = schema?.safeParse(data).error
  if (!schema || !error) throw new Error('There is nothing wrong')
  const isSecret = part === 'body' && contract.takesSecret === true
  return describeProblems(error.issues, { schema, data, isSecret })
}

const ofKey = (data: object) => problemsOf(createApiKeyContract, 'body', { name: 'a', scopes: [], ...data })
const ofSchedule = (data: unknown) => problemsOf(createProjectScheduleContract, 'body', data)
const ofPin = (data: unknown) => problemsOf(updatePinContract, 'body', data)
const ofSkill = (data: object) =>
  problemsOf(createSkillContract, 'body', { name: 'a', description: 'a', files: [], ...data })
const ofFiles = (data: object) => problemsOf(listSessionFilesContract, 'query', data)

const FIRST_40 = 'abcdefghijklmnopqrstuvwxyz0123456789ABCD'
const TOKEN = `wsk_${'a'.repeat(49)}`
const SIGNING_SECRET = `whsec_${'a'.repeat(43)}=`

describe('describeSent', () => {
  it.each([
    ['', '""'],
    ['beside', '"beside"'],
    ['say "hi"\n', '"say \\"hi\\"\\n"'],
    ['\0', '"\\u0000"'],
    [FIRST_40, `"${FIRST_40}"`],
    [`${FIRST_40}E`, `"${FIRST_40}…"`],
    ['🙂'.repeat(40), `"${'🙂'.repeat(40)}"`],
    ['🙂'.repeat(41), `"${'🙂'.repeat(40)}…"`],
    [`a${'🙂'.repeat(41)}`, `"a${'🙂'.repeat(39)}…"`],
    [`${FIRST_40.slice(1)}🙂🙂`, `"${FIRST_40.slice(1)}🙂…"`],
    ['\ud83d', '"\ufffd"'],
    ['\ude42\ud83d', '"\ufffd\ufffd"'],
    [`${FIRST_40.slice(1)}\ud83d`, `"${FIRST_40.slice(1)}\ufffd"`],
    [`${FIRST_40}\ud83d`, `"${FIRST_40}…"`],
    ['x'.repeat(1_000_000), `"${'x'.repeat(40)}…"`],
  ])('repeats the beginning of the text %j', (sent, said) => {
    expect(describeSent(sent)).toBe(said)
  })

  it.each([
    [12, '12'],
    [-0.5, '-0.5'],
    [1e300, '1e+300'],
    [true, 'true'],
    [false, 'false'],
    [null, 'null'],
    [[], 'an array of 0'],
    [[['a'], 'b'], 'an array of 2'],
    [{}, 'an object'],
    [{ name: 'a' }, 'an object'],
  ])('repeats %j', (sent, said) => {
    expect(describeSent(sent)).toBe(said)
  })

  it.each([
    ['hunter2', 'a string'],
    ['', 'a string'],
    [12, 'a number'],
    [true, 'a boolean'],
    [null, 'null'],
    [['hunter2'], 'an array of 1'],
    [{ hunter2: 'hunter2' }, 'an object'],
  ])('says only of what kind the secret %j is', (sent, said) => {
    expect(describeSent(sent, true)).toBe(said)
  })

  it.each([
    TOKEN,
    SIGNING_SECRET,
    'wsk_',
    `Bearer ${TOKEN}`,
    `{"key":"${TOKEN}"}`,
    `${'x'.repeat(200)}${TOKEN}`,
    `https://${SIGNING_SECRET}@hooks.example.com`,
  ])('repeats nothing of %s', (sent) => {
    expect(describeSent(sent)).toBe('a string')
  })
})

describe('describeProblems', () => {
  it.each<[unknown, string]>([
    ['beside', '"beside"'],
    [1, '1'],
    [true, 'true'],
    [null, 'null'],
    [['before', 'after'], 'an array of 2'],
    [{ before: true }, 'an object'],
  ])('says what was sent in place of one of some words: %j', (position, sent) => {
    const target = { type: 'session', id: crypto.randomUUID() }
    const error = `placement.position: expected "before" or "after", got ${sent}`
    expect(ofPin({ placement: { target, position } })).toBe(error)
  })

  it.each<[unknown, string]>([
    [7, 'expected a string, got 7'],
    [false, 'expected a string, got false'],
    [null, 'expected a string, got null'],
    [{}, 'expected a string, got an object'],
    [[], 'expected a string, got an array of 0'],
    [['a'], 'expected a string, got an array of 1'],
    ['', 'expected 1 to 255 characters, got 0'],
    ['🙂'.repeat(256), 'expected 1 to 255 characters, got 256'],
    ['a\0', 'expected text without NUL characters, got "a\\u0000"'],
    ['a\ud83d', 'expected text without lone surrogates, got "a\ufffd"'],
  ])('says what was sent in place of text: %j', (name, said) => {
    expect(ofKey({ name })).toBe(`name: ${said}`)
  })

  it.each<[unknown, string]>([
    ['a day', 'expected whole seconds, got "a day"'],
    ['86400', 'expected whole seconds, got "86400"'],
    [0.5, 'expected whole seconds, got 0.5'],
    [-1, 'expected at least 0, got -1'],
    [2_592_001, 'expected at most 2592000 (30 days), got 2592001'],
  ])('says what was sent in place of a number: %j', (overlapSeconds, said) => {
    expect(problemsOf(rotateApiKeyContract, 'body', { overlapSeconds })).toBe(`overlapSeconds: ${said}`)
  })

  it.each<[unknown, string]>([
    ['2026-03-29', '"2026-03-29"'],
    ['2026-03-29T01:00:00Z', '"2026-03-29T01:00:00Z"'],
    ['2026-02-30T01:00:00.000Z', '"2026-02-30T01:00:00.000Z"'],
    [1_774_746_000_000, '1774746000000'],
  ])('shows an instant where %j was sent', (expiresAt, sent) => {
    const error = `expiresAt: expected an instant such as "2026-03-29T01:00:00.000Z", got ${sent}`
    expect(ofKey({ expiresAt })).toBe(error)
  })

  it('says that what is missing is required, and nothing of what was sent', () => {
    expect(ofSchedule({})).toBe('cron: required, expected a string; timezone: required, expected a string')
    expect(ofPin({ placement: { target: {}, position: 'before' } })).toBe(
      'placement.target.type: required, expected "session" or "pull_request" or "project"; ' +
        'placement.target.id: required, expected a UUID',
    )
  })

  it.each<[unknown, string]>([
    [null, 'null'],
    [[], 'an array of 0'],
    ['{"cron":"@daily"}', '"{\\"cron\\":\\"@daily\\"}"'],
    [7, '7'],
  ])('calls the whole body by that name: %j', (body, sent) => {
    expect(ofSchedule(body)).toBe(`body: expected an object, got ${sent}`)
  })

  it('says nothing more of a change that changes nothing', () => {
    expect(problemsOf(projectScheduleContracts.update, 'body', {})).toBe(
      'body: expected at least one of cron, timezone, enabled',
    )
  })

  it('names a parameter of the query that came more than once', () => {
    expect(ofFiles({ limit: ['1', '2'] })).toBe('limit: expected one value, got several')
    expect(ofFiles({ limit: ['1', '2'], cursor: ['a', 'a'] })).toBe(
      'limit: expected one value, got several; cursor: expected one value, got several',
    )
  })

  it('names each field of a cron expression, and counts them', () => {
    expect(ofSchedule({ cron: '* * * *', timezone: 'UTC' })).toBe(
      'cron: expected five fields (minute, hour, day of month, month, day of week), got 4',
    )
    expect(ofSchedule({ cron: '99 * * * *', timezone: 'UTC' })).toBe(
      'cron: minute: expected 0 to 59, got "99 * * * *"',
    )
  })

  it('says each problem of a value once', () => {
    expect(ofFiles({ limit: 'x' })).toBe('limit: expected digits only, got "x"')
    expect(ofFiles({ limit: '0' })).toBe('limit: expected at least 1, got "0"')
    expect(problemsOf(previewScheduleContract, 'query', { cron: '@daily', from: 'x' })).toBe(
      'from: expected an instant such as "2026-03-29T01:00:00.000Z", got "x"',
    )
    expect(problemsOf(previewScheduleContract, 'query', { cron: '@daily', count: 'x' })).toBe(
      'count: expected digits only, got "x"',
    )
  })

  it('names the element of a list', () => {
    const scope = ofKey({ scopes: ['pins:write', 'pins:eat'] })
    expect(scope).toMatch(/^scopes\.1: expected "[a-z:-]+"( or "[a-z:-]+")+, got "pins:eat"$/)
    expect(ofKey({ projectIds: ['a', 7] })).toBe('projectIds.1: expected a string, got 7')
    expect(ofSkill({ files: [{ filename: 'SKILL.md', content: 7 }] })).toBe(
      'files.0.content: expected a string, got 7',
    )
  })

  it('counts a list that breaks a rule of its own', () => {
    expect(ofKey({ scopes: ['pins:write', 'pins:write'] })).toBe(
      'scopes: expected each scope once, got an array of 2',
    )
    expect(ofKey({ projectIds: ['a', 'a', 'b'] })).toBe(
      'projectIds: expected each project once, got an array of 3',
    )
  })

  it('counts what a list has too many of', () => {
    const files = Array.from({ length: 201 }, (_, index) => ({ filename: `${index}`, content: '' }))
    expect(ofSkill({ files })).toBe('files: expected up to 200 files, got an array of 201')
  })
})

describe('an unknown property', () => {
  it('is answered with those that there are, at every level', () => {
    const target = { type: 'session', id: crypto.randomUUID() }
    const placement = { target, position: 'before' }
    expect(ofPin({ placement, pin: 1 })).toBe('pin: unknown property, expected placement')
    expect(ofPin({ placement: { ...placement, after: 1 } })).toBe(
      'placement.after: unknown property, expected target, position',
    )
    expect(ofPin({ placement: { ...placement, target: { ...target, name: 1 } } })).toBe(
      'placement.target.name: unknown property, expected type, id',
    )
  })

  it('of an element of a list is answered with those of an element', () => {
    const file = { filename: 'SKILL.md', content: '' }
    expect(ofSkill({ files: [file, { filename: 'a.md', content: '', path: 'a.md' }] })).toBe(
      'files.1.path: unknown property, expected filename, content',
    )
  })

  it('is answered with those of a change, too', () => {
    const files = [{ filename: 'SKILL.md', content: '', path: 'SKILL.md' }]
    expect(problemsOf(updateSkillContract, 'body', { files })).toBe(
      'files.0.path: unknown property, expected filename, content',
    )
    expect(problemsOf(projectScheduleContracts.update, 'body', { paused: true })).toMatch(
      /^paused: unknown property, expected cron, timezone, enabled/,
    )
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '0'])(
    'may be called %s',
    (name) => {
      const body = JSON.parse(`{"cron":"@daily","timezone":"UTC","${name}":{"cron":"x"}}`)
      expect(ofSchedule(body)).toBe(`${name}: unknown property, expected cron, timezone`)
    },
  )

  it.each(['', ' ', '\n\t', '\u3000'])('may have the blank name %j, which is quoted', (name) => {
    const body = { cron: '@daily', timezone: 'UTC', [name]: 1 }
    expect(ofSchedule(body)).toBe(`${JSON.stringify(name)}: unknown property, expected cron, timezone`)
  })

  it.each([
    ['x'.repeat(60), 'x'.repeat(60)],
    ['x'.repeat(61), `${'x'.repeat(60)}…`],
    ['x'.repeat(60_000), `${'x'.repeat(60)}…`],
    ['🙂'.repeat(61), `${'🙂'.repeat(60)}…`],
    [`${'x'.repeat(59)}🙂🙂`, `${'x'.repeat(59)}🙂…`],
    ['\ud83d', '\ufffd'],
  ])('has its name shortened by code points: %j', (name, said) => {
    const body = { cron: '@daily', timezone: 'UTC', [name]: 1 }
    expect(ofSchedule(body)).toBe(`${said}: unknown property, expected cron, timezone`)
  })
})

describe('many problems', () => {
  const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, 1]))
  const said = (count: number) =>
    Array.from({ length: count }, (_, n) => `p${n}: unknown property, expected cron, timezone`).join('; ')
  const schedule = { cron: '@daily', timezone: 'UTC' }

  it.each([
    [5, said(5)],
    [6, `${said(5)}; and 1 more`],
    [2000, `${said(5)}; and 1995 more`],
  ])('%i are counted after the fifth', (count, error) => {
    expect(ofSchedule({ ...schedule, ...unknown(count) })).toBe(error)
  })
})

describe('a body with a secret', () => {
  const ofVariables = (variables: unknown) =>
    problemsOf(setEnvironmentVariablesContract, 'body', { variables })

  it('has none of its values repeated', () => {
    expect(ofVariables([{ key: 'hunter2!', value: 7 }])).toBe(
      'variables.0.key: expected letters, digits and underscores, not beginning with a digit, got a string; ' +
        'variables.0.value: expected a string, got a number',
    )
    expect(ofVariables({ TOKEN: 'hunter2' })).toBe('variables: expected an array, got an object')
    expect(ofVariables('hunter2')).toBe('variables: expected an array, got a string')
    expect(ofVariables([{ key: 'TOKEN', value: 'hunter2\0' }])).toBe(
      'variables.0.value: expected text without NUL characters, got a string',
    )
    expect(problemsOf(setEnvironmentVariablesContract, 'body', 'hunter2')).toBe(
      'body: expected an object, got a string',
    )
    expect(problemsOf(putRunEndpointContract, 'body', { url: ['https://hunter2'] })).toBe(
      'url: expected a string, got an array of 1',
    )
  })
})

describe('a token of the service', () => {
  it.each([TOKEN, SIGNING_SECRET])('is not repeated, wherever it is: %s', (token) => {
    const schedule = { cron: '@daily', timezone: 'UTC' }
    expect(ofSchedule({ ...schedule, cron: `@${token}` })).toMatch(/, got a string$/)
    expect(ofSchedule(token)).toBe('body: expected an object, got a string')
    expect(ofSchedule({ ...schedule, [token]: 1 })).toBe('…: unknown property, expected cron, timezone')
    expect(ofSchedule({ ...schedule, [`${'x'.repeat(50)}${token}`]: 1 })).toBe(
      '…: unknown property, expected cron, timezone',
    )
    expect(ofPin({ placement: { [token]: 1 } })).toContain(
      'placement.…: unknown property, expected target, position',
    )
    expect(problemsOf(updatePinContract, 'params', { resourceType: 'session', resourceId: token })).toBe(
      'resourceId: expected a UUID, got a string',
    )
  })
})
