/** Signatures of webhooks: Standard Webhooks 1.0.0, symmetric (`v1`). Its published libraries verify them. */
import { hmacSha256 } from '../crypto/digest.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret: `whsec_` and 32 random bytes in base64. */
export function mintSecret(): string {
  return SECRET_PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString('base64')
}

/**
 * The headers that sign a message.
 * @param secrets each adds a signature, so that a receiver that knows one of them can verify the message.
 */
export async function signedHeaders(id: string, now: Date, body: string, secrets: readonly string[]) {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = await Promise.all(
    secrets.map(async (secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
      return `v1,${(await hmacSha256(key, `${id}.${timestamp}.${body}`)).toString('base64')}`
    }),
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
