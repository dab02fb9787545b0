import { describe, expect, it } from 'vitest'
import { parseKeyRing } from '../../src/crypto/key-ring.ts'

const bytesFrom = (first: number, count = 32) => Array.from({ length: count }, (_, index) => (first + index) % 256)
const base64From = (first: number, count?: number) => btoa(String.fromCharCode(...bytesFrom(first, count)))

describe('parseKeyRing', () => {
  it('reads one key', () => {
    const { newest, keys } = parseKeyRing(`2026-03:${base64From(0)}`)
    expect(newest).toBe('2026-03')
    expect([...keys].map(([id, bytes]) => [id, [...bytes]])).toEqual([['2026-03', bytesFrom(0)]])
  })

  it('reads several, newest first', () => {
    const { newest, keys } = parseKeyRing(`c:${base64From(2)},b:${base64From(1)},a:${base64From(0)}`)
    expect(newest).toBe('c')
    expect([...keys].map(([id, bytes]) => [id, bytes[0]])).toEqual([
      ['c', 2],
      ['b', 1],
      ['a', 0],
    ])
  })

  it('reads every byte value', () => {
    for (const first of [0, 62, 128, 224]) {
      expect([...(parseKeyRing(`a:${base64From(first)}`).keys.get('a') ?? [])]).toEqual(bytesFrom(first))
    }
  })

  it('accepts white space around an entry', () => {
    const { keys } = parseKeyRing(` b:${base64From(1)} ,\n a:${base64From(0)}\n`)
    expect([...keys.keys()]).toEqual(['b', 'a'])
  })

  it('accepts the name of an object property as an id', () => {
    const { newest, keys } = parseKeyRing(`__proto__:${base64From(1)},constructor:${base64From(0)}`)
    expect([newest, keys.get('constructor')?.[0]]).toEqual(['__proto__', 0])
  })

  it.each([
    ['nothing', ''],
    ['white space', ' '],
    ['a key without an id', base64From(0)],
    ['an empty id', `:${base64From(0)}`],
    ['an id without a key', 'secret-id:'],
    ['an id with a dot', `secret.id:${base64From(0)}`],
    ['an id with a space', `secret id:${base64From(0)}`],
    ['an id of 65 characters', `${'x'.repeat(65)}:${base64From(0)}`],
    ['31 bytes', `a:${base64From(0, 31)}`],
    ['33 bytes', `a:${base64From(0, 33)}`],
    ['16 bytes', `a:${base64From(0, 16)}`],
    ['64 bytes', `a:${base64From(0, 64)}`],
    ['base64url', `a:${'_'.repeat(43)}=`],
    ['no padding', `a:${base64From(0).slice(0, -1)}`],
    ['hexadecimal', `a:${'0f'.repeat(32)}`],
    ['white space in the key', `a:${base64From(0).replace('E', ' ')}`],
    ['an empty entry', `a:${base64From(0)},,b:${base64From(1)}`],
    ['a comma at the end', `a:${base64From(0)},`],
    ['a semicolon between', `a:${base64From(0)};b:${base64From(1)}`],
    ['an id twice', `a:${base64From(0)},a:${base64From(1)}`],
    ['an id twice with the same key', `a:${base64From(0)},a:${base64From(0)}`],
  ])('refuses %s with a message that repeats none of it', (_name, text) => {
    let message = ''
    try {
      parseKeyRing(text)
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toMatch(/^ENCRYPTION_KEYS (?:is not a list of keys|has a key id twice); /)
    for (const secret of [base64From(0), base64From(1), base64From(0).slice(0, 12), 'secret', '_'.repeat(9)]) {
      expect(message).not.toContain(secret)
    }
  })
})
