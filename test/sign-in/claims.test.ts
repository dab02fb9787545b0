/** The claims that a sign-in compares, of what a provider sent. */
import { describe, expect, it } from 'vitest'
import { flattenClaims, verifiedEmail } from '../../src/sign-in/claims.ts'
import { request } from '../support/api.ts'
import { admitted, ISSUER, newPerson, signIn } from '../support/sign-in.ts'
import { Workspace } from '../support/workspace.ts'

/** Lower-cased by JavaScript, the first letter is a k. */
const KELVIN = '\u212Aim@example.com'

describe('flattened claims', () => {
  it('have no value for what is not there', () => {
    expect(flattenClaims({ a: undefined, b: null, c: [undefined, 'x'], d: '' })).toEqual([['c', 'x']])
  })

  it('are limited in their number, their size and the length of each', () => {
    const groups = Array.from({ length: 2001 }, (_, index) => `group-${index}`)
    expect(flattenClaims({ groups, other: 'x' })).toHaveLength(2000)
    const long = Array.from({ length: 400 }, (_, index) => `${index}`.padEnd(1000, '.'))
    const claims = flattenClaims({ long, small: 'x' })
    expect(claims.length).toBeLessThan(262)
    expect(claims.length).toBeGreaterThan(250)
    expect(claims).toContainEqual(['small', 'x'])
    expect(flattenClaims({ ['a'.repeat(1001)]: 'x', b: { ['c'.repeat(999)]: 'x' }, d: 'x'.repeat(1001) })).toEqual([])
  })

  it('have the e-mail address in lower case, of which only ASCII letters have one', () => {
    expect(verifiedEmail({ email: 'Kim@Example.com', email_verified: true })).toBe('kim@example.com')
    expect(verifiedEmail({ email: KELVIN, email_verified: true })).toBe(KELVIN)
  })
})

it('an e-mail address with another letter than that of the rule admits nobody', async () => {
  const workspace = await Workspace.create()
  const key = await workspace.addKey({ userId: null })
  const json = { issuer: ISSUER, claim: 'email', value: 'Kim@example.com', role: 'member' }
  await request('POST', '/v1/sign-in-rules', { key, json })
  const personWith = (email: string) => newPerson({ email, claims: [['email', email]] })
  expect(await signIn(workspace, personWith(KELVIN))).toEqual({ refusal: 'not_admitted' })
  await admitted(workspace, personWith('KIM@example.com'))
})
