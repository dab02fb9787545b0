/** The client's `verifyWebhook`, on what the service signs and on what the library of Standard Webhooks signs. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { mintSecret, signedHeaders } from '../../src/webhooks/signature.ts'
import { type ScheduleRunMessage, verifyWebhook } from '../src/index.ts'

const MESSAGE = {
  type: 'schedule.run',
  timestamp: '2026-03-30T07:30:00.000Z',
  data: { id: '019d3da6-44c0-8af1-a829-4c5f72adcc57', cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
}
const BODY = JSON.stringify(MESSAGE)
const ID = MESSAGE.data.id
const MINUTE_MS = 60_000

const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS)
const verifying =
  (...args: Parameters<typeof verifyWebhook>) =>
  () =>
    verifyWebhook(...args)

describe('verifyWebhook', () => {
  it('returns what the service signed, from Headers and from the headers of Node', async () => {
    const secret = mintSecret()
    const headers = await signedHeaders(ID, ago(4), BODY, [secret])
    const message: ScheduleRunMessage = verifyWebhook(secret, new Headers(headers), BODY)
    expect(message).toEqual(MESSAGE)
    expect(verifyWebhook(secret, { ...headers, host: 'hooks.example.com', 'set-cookie': ['a', 'b'] }, BODY)).toEqual(
      MESSAGE,
    )
  })

  it('returns what the library of Standard Webhooks signed', () => {
    const secret = mintSecret()
    const now = new Date()
    const headers = {
      'Webhook-Id': ID,
      'Webhook-Timestamp': String(Math.floor(now.getTime() / 1000)),
      'Webhook-Signature': new Webhook(secret).sign(ID, now, BODY),
    }
    expect(verifyWebhook(secret, headers, BODY)).toEqual(MESSAGE)
  })

  it('accepts the old secret and the new one during a rotation', async () => {
    const [old, rotated] = [mintSecret(), mintSecret()]
    const headers = await signedHeaders(ID, new Date(), BODY, [rotated, old])
    expect(verifyWebhook(old, headers, BODY)).toEqual(MESSAGE)
    expect(verifyWebhook(rotated, headers, BODY)).toEqual(MESSAGE)
    expect(verifying(mintSecret(), headers, BODY)).toThrow('No matching signature found')
  })

  it('refuses a body, an ID or a time that was not signed', async () => {
    const secret = mintSecret()
    const headers = await signedHeaders(ID, new Date(), BODY, [secret])
    const changes: Parameters<typeof verifyWebhook>[] = [
      [secret, headers, BODY.replace('Paris', 'Berlin')],
      [secret, headers, `${BODY} `],
      [secret, { ...headers, 'webhook-id': 'another' }, BODY],
      [secret, { ...headers, 'webhook-timestamp': String(Math.floor(ago(1).getTime() / 1000)) }, BODY],
      [secret, { ...headers, 'webhook-signature': '' }, BODY],
      [secret, { ...headers, 'webhook-signature': 'v1' }, BODY],
      [secret, new Headers(), BODY],
    ]
    for (const change of changes) {
      expect(verifying(...change)).toThrow(
        expect.objectContaining({
          name: 'WebhookVerificationError',
          message: expect.stringMatching(/^The webhook cannot be verified: [A-Z]/),
        }),
      )
    }
  })

  it('refuses what was signed more than five minutes ago, or is signed for later', async () => {
    const secret = mintSecret()
    const signedAt = async (time: Date) => verifying(secret, await signedHeaders(ID, time, BODY, [secret]), BODY)
    expect(await signedAt(ago(6))).toThrow('timestamp too old')
    expect(await signedAt(ago(-6))).toThrow('timestamp too new')
  })

  it('refuses a signed message of another type', async () => {
    const secret = mintSecret()
    const body = '{"type":"something.else"}'
    const headers = await signedHeaders(ID, new Date(), body, [secret])
    expect(verifying(secret, headers, body)).toThrow('type is unknown; got "something.else"')
  })
})
