import { describe, expect, it } from 'vitest'
import type { Contract } from '../../src/http/contract.ts'
import { describeProblems, describeSent } from '../../src/http/problems.ts'
import { createApiKeyContract, rotateApiKeyContract } from '../../src/resources/api-keys/contract.ts'
import { setEnvironmentVariablesContract } from '../../src/resources/environment-variables/contract.ts'
import { updatePinContract } from '../../src/resources/pins/contract.ts'
import { listSessionFilesContract } from '../../src/resources/session-files/contract.ts'
import { createSkillContract, updateSkillContract } from '../../src/resources/skills/contract.ts'
import { putRunEndpointContract } from '../../src/resources/work/run-endpoint/contract.ts'
import {
  createProjectScheduleContract,
  previewScheduleContract,
  projectScheduleContracts,
} from '../../src/resources/work/schedules/contract.ts'

/** The error message of an operation for invalid input. */
function problemsOf(contract: Contract, part: 'body' | 'params' | 'query', data: unknown): string {
  const schema = contract[part]
  const error = schema?.safeParse(data).error
  if (!schema || !error) throw new Error('The input is valid')
  const isSecret = part === 'body' && contract.takesSecret === true
  const noun = part === 'query' ? 'query parameter' : undefined
  return describeProblems(error.issues, { schema, data, isSecret, noun })
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
    [[], 'an array of length 0'],
    [[['a'], 'b'], 'an array of length 2'],
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
    [['hunter2'], 'an array of length 1'],
    [{ hunter2: 'hunter2' }, 'an object'],
  ])('says only of what kind the secret %j is', (sent, said) => {
    expect(describeSent(sent, true)).toBe(said)
  })

  it.each([
    TOKEN,
    TOKEN.replace('wsk_', 'wsk12_'),
    TOKEN.replace('wsk_', 'wsf_'),
    TOKEN.replace('wsk_', 'wsf4999_'),
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
    [['before', 'after'], 'an array of length 2'],
    [{ before: true }, 'an object'],
  ])('names the allowed values for %j', (position, sent) => {
    const target = { type: 'session', id: crypto.randomUUID() }
    const error = `placement.position is not one of the allowed values; got ${sent}; allowed: "before" or "after".`
    expect(ofPin({ placement: { target, position } })).toBe(error)
  })

  it.each<[unknown, string]>([
    [7, 'is not a string; got 7'],
    [false, 'is not a string; got false'],
    [null, 'is not a string; got null'],
    [{}, 'is not a string; got an object'],
    [[], 'is not a string; got an array of length 0'],
    [['a'], 'is not a string; got an array of length 1'],
    ['', 'is too short; got 0 characters'],
    ['🙂'.repeat(256), 'is too long; got 256 characters'],
    ['x'.repeat(1021), 'is too long; got more than 255 characters'],
  ])('names the allowed length of a text for %j', (name, wrong) => {
    expect(ofKey({ name })).toBe(`name ${wrong}; allowed: 1 to 255 characters.`)
  })

  it('names the characters that a text may not have', () => {
    expect(ofKey({ name: 'a\0' })).toBe(
      'name has a NUL character; got "a\\u0000"; allowed: text without NUL characters.',
    )
    expect(ofKey({ name: 'a\ud83d' })).toBe('name has a lone surrogate; got "a\ufffd"; allowed: well-formed Unicode.')
  })

  it('writes sizes in KiB and MiB', () => {
    const ofContent = (content: string) => ofSkill({ files: [{ filename: 'a', content }] })
    expect(ofContent('x'.repeat(2 ** 20 + 1))).toBe(
      'files.0.content is too large; got 1048577 bytes; allowed: up to 1 MiB.',
    )
    expect(ofContent('x'.repeat(2 ** 21 + 1))).toBe(
      'files.0.content is too large; got more than 1 MiB; allowed: up to 1 MiB.',
    )
  })

  it.each<[unknown, string]>([
    ['a day', 'is not a number; got "a day"'],
    ['86400', 'is not a number; got "86400"'],
    [0.5, 'is not a whole number; got 0.5'],
    [-1, 'is too small; got -1'],
    [2_592_001, 'is too large; got 2592001'],
  ])('names the allowed numbers for %j', (overlapSeconds, wrong) => {
    expect(problemsOf(rotateApiKeyContract, 'body', { overlapSeconds })).toBe(
      `overlapSeconds ${wrong}; allowed: whole seconds from 0 to 2592000 (30 days).`,
    )
  })

  it('names what is missing and what is allowed', () => {
    expect(ofSchedule({})).toBe(
      'cron is missing; allowed: 1 to 255 characters, such as "30 9 * * mon-fri". ' +
        'timezone is missing; allowed: 1 to 255 characters, such as "Europe/Paris".',
    )
    expect(ofPin({ placement: { target: {}, position: 'before' } })).toBe(
      'placement.target.type is missing; allowed: "session", "pull_request" or "project". ' +
        'placement.target.id is missing; allowed: a UUID such as "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70", because only IDs that are UUIDs can be pinned.',
    )
    expect(ofPin({})).toBe('placement is missing; allowed: an object with target, position.')
    expect(ofSkill({ files: undefined })).toBe('files is missing; allowed: an array of up to 500 files.')
  })

  it('names the values of a boolean', () => {
    expect(problemsOf(projectScheduleContracts.update, 'body', { enabled: 'yes' })).toBe(
      'enabled is not a boolean; got "yes"; allowed: true or false.',
    )
  })

  it.each<[unknown, string]>([
    [null, 'null'],
    [[], 'an array of length 0'],
    ['{"cron":"@daily"}', '"{\\"cron\\":\\"@daily\\"}"'],
    [7, '7'],
  ])('calls the whole body by that name: %j', (body, sent) => {
    expect(ofSchedule(body)).toBe(`body is not an object; got ${sent}; allowed: an object with cron, timezone.`)
  })

  it('names the properties of an update that has none', () => {
    expect(problemsOf(projectScheduleContracts.update, 'body', {})).toBe(
      'body has no properties; allowed: at least one of cron, timezone, name, runAt, payload, overlap, maxRunSeconds, pauseAfterFailures, note, enabled.',
    )
  })

  it('names a query parameter that was sent several times', () => {
    expect(ofFiles({ limit: ['1', '2'] })).toBe('limit has several values; allowed: one value.')
    expect(ofFiles({ limit: ['1', '2'], cursor: ['a', 'a'] })).toBe(
      'limit has several values; allowed: one value. cursor has several values; allowed: one value.',
    )
  })

  it('names each field of a cron expression, and counts them', () => {
    expect(ofSchedule({ cron: '* * * *', timezone: 'UTC' })).toBe(
      'cron does not have five fields; got 4 fields; allowed: minute, hour, day of month, month and day of week.',
    )
    expect(ofSchedule({ cron: '99 * * * *', timezone: 'UTC' })).toBe(
      'cron has an invalid minute; got "99 * * * *"; allowed: 0 to 59.',
    )
  })

  it('says each problem of a value once', () => {
    expect(ofFiles({ limit: 'x' })).toBe('limit is not a whole number; got "x"; allowed: at least 1.')
    expect(ofFiles({ limit: '0' })).toBe('limit is too small; got "0"; allowed: at least 1.')
    expect(problemsOf(previewScheduleContract, 'query', { cron: '@daily', count: 'x' })).toBe(
      'count is not a whole number; got "x"; allowed: 1 to 100.',
    )
    expect(problemsOf(previewScheduleContract, 'query', { cron: '@daily', count: '101' })).toBe(
      'count is too large; got "101"; allowed: 1 to 100.',
    )
  })

  it('names the element of a list', () => {
    expect(ofKey({ projectIds: ['a', 7] })).toBe('projectIds.1 is not a string; got 7; allowed: 1 to 255 characters.')
    expect(ofSkill({ files: [{ filename: 'SKILL.md', content: 7 }] })).toBe(
      'files.0.content is not a string; got 7; allowed: up to 1 MiB.',
    )
  })

  it('names what a list has several times', () => {
    expect(ofKey({ scopes: ['pins:write', 'pins:write'] })).toBe(
      'scopes has a scope several times; allowed: each scope once.',
    )
    expect(ofKey({ projectIds: ['a', 'a', 'b'] })).toBe(
      'projectIds has a project several times; allowed: each project once.',
    )
  })

  it('limits all projects of a key together', () => {
    const ids = Array.from({ length: 32 }, (_, index) => String(index).padEnd(255, 'x'))
    const ofLength = (length: number) => ({ projectIds: [...ids, 'é'.repeat(length / 2)] })
    expect(createApiKeyContract.body.safeParse({ name: 'a', scopes: [], ...ofLength(32) }).success).toBe(true)
    expect(ofKey(ofLength(34))).toBe('projectIds has IDs of more than 8 KiB together; allowed: up to 8 KiB in UTF-8.')
  })

  it('counts the items of a list that has too many', () => {
    const files = Array.from({ length: 501 }, (_, index) => ({ filename: `${index}`, content: '' }))
    expect(ofSkill({ files })).toBe(
      'files has too many items; got an array of length 501; allowed: an array of up to 500 files.',
    )
  })
})

describe('an unknown property', () => {
  it('is answered with the known properties, at every level', () => {
    const target = { type: 'session', id: crypto.randomUUID() }
    const placement = { target, position: 'before' }
    expect(ofPin({ placement, pin: 1 })).toBe('pin is not a known property; known: placement.')
    expect(ofPin({ placement: { ...placement, after: 1 } })).toBe(
      'placement.after is not a known property; known: target, position.',
    )
    expect(ofPin({ placement: { ...placement, target: { ...target, name: 1 } } })).toBe(
      'placement.target.name is not a known property; known: type, id.',
    )
  })

  it('of a list item is answered with the known properties of an item', () => {
    const file = { filename: 'SKILL.md', content: '' }
    expect(ofSkill({ files: [file, { filename: 'a.md', content: '', path: 'a.md' }] })).toBe(
      'files.1.path is not a known property; known: filename, content, encoding, executable.',
    )
  })

  it('of an update is answered with the known properties', () => {
    const files = [{ filename: 'SKILL.md', content: '', path: 'SKILL.md' }]
    expect(problemsOf(updateSkillContract, 'body', { files })).toBe(
      'files.0.path is not a known property; known: filename, content, encoding, executable.',
    )
    expect(problemsOf(projectScheduleContracts.update, 'body', { paused: true })).toMatch(
      /^paused is not a known property; known: cron, timezone, name/,
    )
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '0'])('may be called %s', (name) => {
    const body = JSON.parse(`{"cron":"@daily","timezone":"UTC","${name}":{"cron":"x"}}`)
    expect(ofSchedule(body)).toBe(`${name} is not a known property; known: cron, timezone.`)
  })

  it.each(['', ' ', '\n\t', '\u3000'])('may have the blank name %j, which is quoted', (name) => {
    const body = { cron: '@daily', timezone: 'UTC', [name]: 1 }
    expect(ofSchedule(body)).toBe(`${JSON.stringify(name)} is not a known property; known: cron, timezone.`)
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
    expect(ofSchedule(body)).toBe(`${said} is not a known property; known: cron, timezone.`)
  })
})

describe('many problems', () => {
  const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, 1]))
  const said = (count: number) =>
    Array.from({ length: count }, (_, n) => `p${n} is not a known property; known: cron, timezone.`).join(' ')
  const schedule = { cron: '@daily', timezone: 'UTC' }

  it.each([
    [5, said(5)],
    [6, `${said(5)} And 1 more problem.`],
    [2000, `${said(5)} And 1995 more problems.`],
  ])('%i are counted after the fifth', (count, error) => {
    expect(ofSchedule({ ...schedule, ...unknown(count) })).toBe(error)
  })
})

describe('a body with a secret', () => {
  const ofVariables = (variables: unknown) => problemsOf(setEnvironmentVariablesContract, 'body', { variables })

  it('has none of its values repeated', () => {
    expect(ofVariables([{ key: 'hunter2!', value: 7 }])).toBe(
      'variables.0.key has the wrong format; got a string; allowed: letters, digits and underscores, not beginning with a ' +
        'digit, such as "DATABASE_URL". variables.0.value is not a string; got a number; allowed: text of up to 64 KiB.',
    )
    expect(ofVariables({ TOKEN: 'hunter2' })).toBe(
      'variables is not an array; got an object; allowed: an array of 1 to 100 variables.',
    )
    expect(ofVariables('hunter2')).toBe(
      'variables is not an array; got a string; allowed: an array of 1 to 100 variables.',
    )
    expect(ofVariables([{ key: 'TOKEN', value: 'hunter2\0' }])).toBe(
      'variables.0.value has a NUL character; got a string; allowed: text without NUL characters.',
    )
    expect(problemsOf(setEnvironmentVariablesContract, 'body', 'hunter2')).toBe(
      'body is not an object; got a string; allowed: an object with variables.',
    )
    expect(problemsOf(putRunEndpointContract, 'body', { url: ['https://hunter2'] })).toBe(
      'url is not a string; got an array of length 1; allowed: 1 to 2000 characters, such as "https://hooks.example.com/runs".',
    )
  })
})

describe('a token of the service', () => {
  it.each([TOKEN, SIGNING_SECRET])('is not repeated, wherever it is: %s', (token) => {
    const schedule = { cron: '@daily', timezone: 'UTC' }
    expect(ofSchedule({ ...schedule, cron: `@${token}` })).toContain('; got a string; ')
    expect(ofSchedule(token)).toBe('body is not an object; got a string; allowed: an object with cron, timezone.')
    expect(ofSchedule({ ...schedule, [token]: 1 })).toBe('… is not a known property; known: cron, timezone.')
    expect(ofSchedule({ ...schedule, [`${'x'.repeat(50)}${token}`]: 1 })).toBe(
      '… is not a known property; known: cron, timezone.',
    )
    expect(ofPin({ placement: { [token]: 1 } })).toContain(
      'placement.… is not a known property; known: target, position.',
    )
    expect(problemsOf(updatePinContract, 'params', { resourceType: 'session', resourceId: token })).toBe(
      'resourceId has the wrong format; got a string; allowed: a UUID such as "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70", because only IDs that are UUIDs can be pinned.',
    )
  })
})
