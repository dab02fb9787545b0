import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { mintSecret, signedHeaders } from '../../src/webhooks/signature.ts'

describe('signedHeaders', () => {
  const signed = (body: string, secrets: string[], now = new Date()) => signedHeaders('run-1', now, body, secrets)

  it('are equal to those of the public library for any body', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uuid(),
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 0, max: Date.UTC(2999, 0) }),
        async (id, body, at) => {
          const secret = mintSecret()
          const now = new Date(at)
          expect(await signedHeaders(id, now, body, [secret])).toEqual({
            'webhook-id': id,
            'webhook-timestamp': String(Math.floor(at / 1000)),
            'webhook-signature': new Webhook(secret).sign(id, now, body),
          })
        },
      ),
    )
  })

  it('are verified with each of the secrets, and with no other', async () => {
    const secrets = [mintSecret(), mintSecret()]
    const headers = await signed('{"a":"é"}', secrets)
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2)
    for (const secret of secrets) expect(new Webhook(secret).verify('{"a":"é"}', headers)).toEqual({ a: 'é' })
    expect(() => new Webhook(mintSecret()).verify('{"a":"é"}', headers)).toThrow('No matching signature found')
  })

  it('are valid for five minutes before and after their timestamp', async () => {
    const secret = mintSecret()
    const library = new Webhook(secret)
    const at = (seconds: number) => signed('{}', [secret], new Date(Date.now() + seconds * 1000))
    for (const seconds of [-290, 0, 290]) expect(library.verify('{}', await at(seconds))).toEqual({})
    const [past, future] = [await at(-302), await at(302)]
    expect(() => library.verify('{}', past)).toThrow('Message timestamp too old')
    expect(() => library.verify('{}', future)).toThrow('Message timestamp too new')
  })
})

describe('mintSecret', () => {
  it('creates a new secret each time: whsec_ and 32 bytes in base64', () => {
    const secrets = Array.from({ length: 100 }, mintSecret)
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
    }
    expect(new Set(secrets).size).toBe(100)
  })
})
