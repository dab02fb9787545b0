import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mintToken, parseToken } from '../../src/access/api-key.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** CRC-32 bit by bit (ISO-HDLC, as in zlib): reflected polynomial 0xEDB88320. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

/** Base62 by long division of decimal digits: no arithmetic in common with the code. */
function base62(decimal: string, length: number): string {
  let digits = [...decimal].map(Number)
  const places: number[] = []
  while (digits.length > 0) {
    let rest = 0
    const quotient: number[] = []
    for (const digit of digits) {
      rest = rest * 10 + digit
      quotient.push(Math.floor(rest / 62))
      rest %= 62
    }
    places.unshift(rest)
    digits = quotient.slice(quotient.findIndex((digit) => digit !== 0))
    if (quotient.every((digit) => digit === 0)) digits = []
  }
  return places
    .map((place) => BASE62[place])
    .join('')
    .padStart(length, '0')
}

function numberOf(text: string): bigint {
  return [...text].reduce((sum, character) => sum * 62n + BigInt(BASE62.indexOf(character)), 0n)
}

const checksumOf = (text: string) => base62(String(crc32(text)), 6)

const withChecksum = (body: string) => body + checksumOf(body)

describe('the functions of this test', () => {
  it('compute CRC-32, as its check value shows, and base62', async () => {
    expect(crc32('123456789')).toBe(0xcbf43926)
    expect([base62('0', 1), base62('61', 1), base62('62', 2), base62('4294967295', 6)]).toEqual([
      '0',
      'z',
      '10',
      '4gfFC3',
    ])
  })
})

const newToken = async () => (await mintToken()).tokenIn(0)
const isToken = async (text: string) => (await parseToken(text)) !== undefined

describe('mintToken', () => {
  it('is the prefix, 32 bytes in base62, and six characters of the CRC-32 of all that precedes', async () => {
    for (let round = 0; round < 200; round++) {
      const token = await newToken()
      expect(token).toMatch(/^wsk_[0-9A-Za-z]{49}$/)
      expect(numberOf(token.slice(4, 47)) < 2n ** 256n).toBe(true)
      expect(token.slice(47)).toBe(checksumOf(token.slice(0, 47)))
      expect(await isToken(token)).toBe(true)
    }
  })

  it('is different each time, from the whole range', async () => {
    const tokens = await Promise.all(Array.from({ length: 1000 }, newToken))
    const secrets = tokens.map((token) => numberOf(token.slice(4, 47)))
    expect(new Set(secrets).size).toBe(1000)
    const highest = secrets.reduce((sum, secret) => sum | secret, 0n)
    const lowest = secrets.reduce((sum, secret) => sum & secret, 2n ** 256n - 1n)
    expect([highest, lowest]).toEqual([2n ** 256n - 1n, 0n])
  })
})

describe('isToken', () => {
  it('accepts tokens of another implementation, padded on the left', async () => {
    expect(await isToken(withChecksum(`wsk_${'0'.repeat(43)}`))).toBe(true)
    expect(await isToken(withChecksum(`wsk_${base62(String(2n ** 256n - 1n), 43)}`))).toBe(true)
    expect(await isToken(withChecksum(`wsk_${base62('1', 43)}`))).toBe(true)
  })

  it('refuses every change of one character', async () => {
    const token = await newToken()
    for (let place = 0; place < token.length; place++) {
      for (const character of BASE62) {
        const changed = token.slice(0, place) + character + token.slice(place + 1)
        if (changed !== token) expect([changed, await isToken(changed)]).toEqual([changed, false])
      }
    }
  })

  it('refuses every exchange of neighbouring characters, every missing and every additional character', async () => {
    const token = await newToken()
    for (let place = 0; place < token.length; place++) {
      const [before, after] = [token.slice(0, place), token.slice(place)]
      const exchanged = before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2)
      if (exchanged !== token) expect([exchanged, await isToken(exchanged)]).toEqual([exchanged, false])
      expect(await isToken(before + after.slice(1))).toBe(false)
      for (const character of ['0', 'z', ' ']) expect(await isToken(before + character + after)).toBe(false)
    }
  })

  it('refuses another prefix, length or alphabet, even with the right checksum', async () => {
    for (const body of [
      'wsk_',
      `wsk_${'0'.repeat(42)}`,
      `wsk_${'0'.repeat(44)}`,
      `wsk-${'0'.repeat(43)}`,
      `WSK_${'0'.repeat(43)}`,
      `${'0'.repeat(43)}`,
      `xwsk_${'0'.repeat(43)}`,
      `wsk_${'0'.repeat(42)}_`,
      `wsk_${'0'.repeat(42)}\u00e9`,
      `wsk_${'0'.repeat(42)}\uff10`,
    ]) {
      expect([body, await isToken(withChecksum(body))]).toEqual([body, false])
    }
  })

  it('refuses text around a token', async () => {
    const token = await newToken()
    for (const text of [
      '',
      `${token}\n`,
      `\n${token}`,
      ` ${token}`,
      `${token}\0`,
      token + token,
      `${token}\n${token}`,
    ]) {
      expect([text, await isToken(text)]).toEqual([text, false])
    }
  })
})

describe('the hash', () => {
  const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex')

  it('is the SHA-256 of the token without its number and its checksum, in lower-case hexadecimal', async () => {
    for (const number of [0, 1, 12, 4999]) {
      const { hash, tokenIn } = await mintToken()
      const token = tokenIn(number)
      const secret = token.slice(token.indexOf('_') + 1, -6)
      expect(hash).toBe(hashOf(`wsk_${secret}`))
      expect(await parseToken(token)).toEqual({ hash, databaseNumber: number })
    }
  })

  it('is the same for every database, and another for a feed', async () => {
    const { hash, tokenIn } = await mintToken()
    const parsed = await Promise.all([0, 1, 2].map((number) => parseToken(tokenIn(number))))
    expect(new Set(parsed.map((each) => each?.hash))).toEqual(new Set([hash]))
    const secret = tokenIn(0).slice(4, -6)
    expect(await parseToken(withChecksum(`wsf_${secret}`), 'wsf')).toMatchObject({ hash: hashOf(`wsf_${secret}`) })
  })
})

describe('the number of a database', () => {
  it('is between the prefix and the underscore, inside the checksum; 0 is left out', async () => {
    const { tokenIn } = await mintToken('wsf')
    expect(tokenIn(0)).toMatch(/^wsf_[0-9A-Za-z]{49}$/)
    const token = tokenIn(12)
    expect(token).toMatch(/^wsf12_[0-9A-Za-z]{49}$/)
    expect(token.slice(-6)).toBe(checksumOf(token.slice(0, -6)))
    expect(await parseToken(token.replace('wsf12_', 'wsf13_'), 'wsf')).toBeUndefined()
  })

  it.each(['0', '00', '01', '10000', '-1', '1.0', '1e1', ' 1', '1 ', 'x', '\uff11'])('is not %j', async (number) => {
    expect(await parseToken(withChecksum(`wsk${number}_${'0'.repeat(43)}`))).toBeUndefined()
  })

  it('does not make a token of one kind one of the other', async () => {
    expect(await parseToken((await mintToken('wsf')).tokenIn(3))).toBeUndefined()
    expect(await parseToken((await mintToken('wsk')).tokenIn(3), 'wsf')).toBeUndefined()
  })
})
