import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseKeyRing } from '../../src/crypto/key-ring.ts'
import { open, type SealedContext, seal } from '../../src/crypto/sealed-value.ts'

const keyOf = (first: number) =>
  btoa(String.fromCharCode(...Array.from({ length: 32 }, (_, index) => (first + index) % 256)))

const OLD = `old:${keyOf(0)}`
const NEW = `new:${keyOf(100)}`
const ring = parseKeyRing(OLD)

const context: SealedContext = {
  purpose: 'environment-variable',
  organizationId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
  projectId: 'website',
  name: 'DATABASE_URL',
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const wellFormed = fc.string({ unit: 'binary', size: 'medium' })

function decode(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64url'))
}

describe('seal and open', () => {
  it('return any text', async () => {
    await fc.assert(
      fc.asyncProperty(wellFormed, async (value) => {
        expect(await open(await seal(value, context, ring), context, ring)).toBe(value)
      }),
      { numRuns: 300 },
    )
  })

  it.each(['', ' ', '\0', '\n', '\ufeff', '\ufeffx', '\uffff', '\u{1f511}', 'x'.repeat(100_000)])(
    'return the text %#',
    async (value) => {
      expect(await open(await seal(value, context, ring), context, ring)).toBe(value)
    },
  )

  it('return a value of any context', async () => {
    const contexts = fc.record({
      purpose: fc.constant('environment-variable' as const),
      organizationId: wellFormed,
      projectId: wellFormed,
      name: wellFormed,
    })
    await fc.assert(
      fc.asyncProperty(contexts, async (other) => {
        expect(await open(await seal('value', other, ring), other, ring)).toBe('value')
      }),
      { numRuns: 100 },
    )
  })
})

describe('the sealed form', () => {
  it('is v1.keyId.iv.ciphertext with a 96-bit IV and a 128-bit tag, and contains nothing of the value', async () => {
    const sealed = await seal('plain-text-value', context, ring)
    const [version, keyId, iv, ciphertext, ...rest] = sealed.split('.')
    expect([version, keyId, rest]).toEqual(['v1', 'old', []])
    expect(decode(iv ?? '')).toHaveLength(12)
    expect(decode(ciphertext ?? '')).toHaveLength('plain-text-value'.length + 16)
    expect(sealed).toMatch(/^[\w.-]+$/)
    for (const encoded of ['plain-text-value', btoa('plain-text-value').slice(0, 12)]) {
      expect(sealed).not.toContain(encoded)
    }
  })

  it('is different each time', async () => {
    const sealed = await Promise.all(Array.from({ length: 100 }, () => seal('value', context, ring)))
    for (const part of [2, 3]) {
      expect(new Set(sealed.map((text) => text.split('.')[part])).size).toBe(100)
    }
  })

  it('is AES-256-GCM under HKDF-SHA-256: a value of the first version of v1 must always open', async () => {
    const sealed = 'v1.2026-03.ZGVmZ2hpamtsbW5v.FexgeLfWoQ1FbxP9vAjf65AVKMTrJqw3hhfPwPdDR1qfpxs_dQ'
    const value = await open(sealed, { ...context, projectId: 'caf\u00e9' }, parseKeyRing(`2026-03:${keyOf(0)}`))
    expect(value).toBe('postgres://\u00e9:\u{1f511}@db')
  })
})

describe('open refuses', () => {
  it('every flipped bit of the IV, the ciphertext and the tag', async () => {
    const [version, keyId, iv, ciphertext] = (await seal('value', context, ring)).split('.') as [
      string,
      string,
      string,
      string,
    ]
    const flips = (text: string) =>
      Array.from({ length: decode(text).length * 8 }, (_, bit) => {
        const bytes = decode(text)
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return Buffer.from(bytes).toString('base64url')
      })
    const altered = [
      ...flips(iv).map((flipped) => [version, keyId, flipped, ciphertext].join('.')),
      ...flips(ciphertext).map((flipped) => [version, keyId, iv, flipped].join('.')),
    ]
    expect(altered).toHaveLength(8 * (12 + 'value'.length + 16))
    for (const sealed of altered) await expect(open(sealed, context, ring), sealed).rejects.toThrow()
  })

  it.each(['', 'a', 'ab'])('every character of the text changed, of the value "%s"', async (value) => {
    const sealed = await seal(value, context, ring)
    for (let place = 0; place < sealed.length; place++) {
      for (const character of `${BASE64URL}.`) {
        const altered = sealed.slice(0, place) + character + sealed.slice(place + 1)
        if (altered !== sealed) await expect(open(altered, context, ring), altered).rejects.toThrow()
      }
    }
  })

  it('text that only a lenient decoder accepts', async () => {
    const sealed = await seal('value', context, ring)
    for (const altered of [
      `${sealed}=`,
      `${sealed}\n`,
      `${sealed} `,
      `${sealed}!`,
      sealed.replace(/\.([^.]*)$/, '. $1'),
    ]) {
      await expect(open(altered, context, ring), JSON.stringify(altered)).rejects.toThrow()
    }
  })

  it('text that was cut off, added or exchanged', async () => {
    const sealed = await seal('value', context, ring)
    const other = await seal('other', context, ring)
    const [version, keyId, iv, ciphertext] = sealed.split('.') as [string, string, string, string]
    const [, , otherIv, otherCiphertext] = other.split('.') as [string, string, string, string]
    for (const altered of [
      '',
      'value',
      '...',
      'v1.old..',
      `v1.old.${iv}.`,
      `v1.old..${ciphertext}`,
      [version, keyId, iv].join('.'),
      `${sealed}.`,
      `${sealed}.x`,
      `.${sealed}`,
      ['v2', keyId, iv, ciphertext].join('.'),
      ['V1', keyId, iv, ciphertext].join('.'),
      ['', keyId, iv, ciphertext].join('.'),
      [version, keyId, otherIv, ciphertext].join('.'),
      [version, keyId, iv, otherCiphertext].join('.'),
      [version, keyId, iv, ciphertext.slice(0, -4)].join('.'),
      [version, keyId, iv, ciphertext.slice(4)].join('.'),
      [version, keyId, iv.slice(0, -4), ciphertext].join('.'),
      [version, keyId, `${iv}AAAA`, ciphertext].join('.'),
      [version, keyId, iv, `${ciphertext}AAAA`].join('.'),
    ]) {
      await expect(open(altered, context, ring), altered).rejects.toThrow()
    }
  })

  it.each([
    ['organization', { organizationId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e904' }],
    ['project', { projectId: 'Website' }],
    ['name', { name: 'DATABASE_URL_2' }],
    ['purpose', { purpose: 'webhook-secret' as never }],
  ])('a value of another %s', async (_name, change) => {
    const sealed = await seal('value', context, ring)
    await expect(open(sealed, { ...context, ...change }, ring)).rejects.toThrow()
  })

  it('a value of a context whose parts begin and end elsewhere', async () => {
    const contextOf = (organizationId: string, projectId: string, name: string): SealedContext => ({
      purpose: 'environment-variable',
      organizationId,
      projectId,
      name,
    })
    const contexts = [
      contextOf('a', 'b', 'cd'),
      contextOf('a', 'bc', 'd'),
      contextOf('ab', 'c', 'd'),
      contextOf('', 'abc', 'd'),
      contextOf('abc', '', 'd'),
      contextOf('a', 'bcd', ''),
      contextOf('a\0\0\0\u0001b', 'c', 'd'),
      contextOf('d', 'b', 'ca'),
    ]
    for (const from of contexts) {
      const sealed = await seal('value', from, ring)
      for (const to of contexts) {
        if (to !== from) await expect(open(sealed, to, ring)).rejects.toThrow()
      }
    }
  })

  it('a value under another key id, even if the bytes of the keys are the same', async () => {
    const twins = parseKeyRing(`a:${keyOf(0)},b:${keyOf(0)}`)
    const sealed = await seal('value', context, twins)
    expect(sealed).toMatch(/^v1\.a\./)
    expect(await open(sealed, context, twins)).toBe('value')
    await expect(open(sealed.replace('v1.a.', 'v1.b.'), context, twins)).rejects.toThrow()
  })

  it('a value under another key of the same id', async () => {
    const sealed = await seal('value', context, ring)
    await expect(open(sealed, context, parseKeyRing(`old:${keyOf(1)}`))).rejects.toThrow()
  })
})

describe('rotation', () => {
  it('seals under the newest key, and opens under every key of the ring', async () => {
    const sealedOld = await seal('first', context, parseKeyRing(OLD))
    const both = parseKeyRing(`${NEW},${OLD}`)
    const sealedNew = await seal('second', context, both)
    expect(sealedNew).toMatch(/^v1\.new\./)
    expect(await open(sealedOld, context, both)).toBe('first')
    expect(await open(sealedNew, context, both)).toBe('second')

    const resealed = await seal(await open(sealedOld, context, both), context, both)
    const onlyNew = parseKeyRing(NEW)
    expect(await open(resealed, context, onlyNew)).toBe('first')
    expect(await open(sealedNew, context, onlyNew)).toBe('second')
  })

  it('names the missing key by its id, and nothing else', async () => {
    const sealed = await seal('plain-text-value', context, parseKeyRing(OLD))
    const message = await open(sealed, context, parseKeyRing(NEW)).catch((error: Error) => error.message)
    expect(message).toContain('"old"')
    for (const secret of ['plain-text-value', keyOf(0), keyOf(100), sealed.slice(-10), 'website']) {
      expect(message).not.toContain(secret)
    }
  })
})
