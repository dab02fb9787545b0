import { describe, expect, it } from 'vitest'
import { describeFailure, isUnavailable, StoreUnavailable } from '../../src/db/failures.ts'
import { env } from '../support/env.ts'

/** What a log line would hold. */
const logOf = (error: unknown) => JSON.stringify(describeFailure(error))

describe('isUnavailable', () => {
  it.each([
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: Network connection lost.',
    'D1_ERROR: D1 DB reset because its code was updated.',
    'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
    'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
    'D1_ERROR: database is locked: SQLITE_BUSY',
    'D1_ERROR: Failed to get session commit token: internal error; reference = 5i0s4k',
  ])('is true of "%s"', (message) => {
    expect(isUnavailable(new Error(message))).toBe(true)
  })

  it('is true of StoreUnavailable', () => {
    expect(isUnavailable(new StoreUnavailable('The object store did not delete an object'))).toBe(true)
  })

  it.each([
    new Error('D1_ERROR: UNIQUE constraint failed: pins.id: SQLITE_CONSTRAINT'),
    new Error('D1_ERROR: no such table: pins: SQLITE_ERROR'),
    new Error(''),
    new TypeError('undefined is not a function'),
    'D1_ERROR: D1 DB is overloaded.',
    { message: 'D1_ERROR: D1 DB is overloaded.' },
    null,
    undefined,
  ])('is false of %s', (error) => {
    expect(isUnavailable(error)).toBe(false)
  })
})

describe('describeFailure', () => {
  it('has the name, the stack and the message of the database', () => {
    const failure = describeFailure(new Error('D1_ERROR: no such table: pins: SQLITE_ERROR'))
    expect(failure.name).toBe('Error')
    expect(failure.message).toBe('D1_ERROR: no such table: pins: SQLITE_ERROR')
    expect(failure.stack.length).toBeGreaterThan(0)
    expect(failure.stack.every((line) => /^\s*at /.test(line))).toBe(true)
  })

  it('has the message of an unavailable store, and the cause', () => {
    const cause = new TypeError('secret')
    const failure = describeFailure(new StoreUnavailable('The object store did not delete an object', { cause }))
    expect(failure).toMatchObject({
      name: 'StoreUnavailable',
      message: 'The object store did not delete an object',
      cause: { name: 'TypeError' },
    })
    expect(JSON.stringify(failure)).not.toContain('secret')
  })

  it.each<[string, unknown]>([
    ['a message', new Error('secret')],
    ['a message of several lines', new Error('first\nsecret\nthird')],
    ['a message with a line like one of the stack', new Error('first\n    at secret (value.ts:1:1)')],
    ['the message of a failed query', new Error('Failed query: select ?\nparams: secret')],
    ['a cause', new Error('first', { cause: new Error('secret') })],
    ['a cause that is not an error', new Error('first', { cause: 'secret' })],
    ['the cause of a cause', new Error('1', { cause: new Error('2', { cause: { key: 'secret' } }) })],
    ['a thrown text', 'secret'],
    ['a thrown object', { message: 'secret', name: 'secret', stack: '    at secret' }],
    ['other properties', Object.assign(new Error('first'), { query: 'secret', params: ['secret'] })],
    ['the errors of an AggregateError', new AggregateError([new Error('secret')], 'first')],
    ['a message of D1 within another message', new Error('secret: D1_ERROR: no such table')],
  ])('leaves a value out of %s', (_name, error) => {
    expect(logOf(error)).not.toContain('secret')
  })

  it.each<[string, () => unknown]>([
    ['a symbol', () => env.DB.prepare('select ?').bind(Symbol('secret')).all()],
    [
      'an object',
      () =>
        env.DB.prepare('select ?')
          .bind({ toString: () => 'secret' })
          .all(),
    ],
    ['a JSON path', () => env.DB.prepare('select json_extract(?, ?)').bind('{}', 'secret').all()],
    ['malformed JSON', () => env.DB.prepare('select value from json_each(?)').bind('secret').all()],
    [
      'a pattern',
      () =>
        env.DB.prepare("select 'x' like ?")
          .bind(`%${'secret'.repeat(100)}%`)
          .all(),
    ],
  ])('leaves out %s that the database could quote', async (_name, run) => {
    const error = await Promise.resolve()
      .then(run)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    expect(logOf(error)).not.toContain('secret')
  })

  it('ends if an error is its own cause', () => {
    const error = new Error('first')
    error.cause = error
    expect(logOf(error)).toContain('Error')
  })

  it.each([undefined, null, 7, 'text', {}])('describes %j', (thrown) => {
    expect(describeFailure(thrown)).toEqual({ name: typeof thrown, stack: [] })
  })
})
