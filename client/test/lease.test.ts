/** The client's `openLease`, on leases that are sealed here as the service seals them. */
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core'
import { describe, expect, it } from 'vitest'
import { ORIGIN } from '../../test/support/api.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { Workspace as Client, createLeaseKey, leaseVariables, openLease, type SealedLease } from '../src/index.ts'
import { serve } from './support/serve.ts'

const INFO = 'workspace-api environment-variables lease v1'
const VARIABLES = { GREETING: 'hello', NAME: 'Zoë 🦊', EMPTY: '' }

const bytes = (text: string) => new TextEncoder().encode(text)
const base64url = (buffer: ArrayBuffer) => Buffer.from(buffer).toString('base64url')

async function seal(
  publicKey: string,
  variables: object,
  { info = INFO, keys = Object.keys(variables), projectId = 'website' } = {},
): Promise<SealedLease> {
  const lease = {
    organizationId: crypto.randomUUID(),
    projectId,
    keys,
  }
  const kem = new DhkemX25519HkdfSha256()
  const suite = new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes256Gcm() })
  const { enc, ct } = await suite.seal(
    {
      recipientPublicKey: await kem.deserializePublicKey(Uint8Array.from(Buffer.from(publicKey, 'base64url')).buffer),
      info: bytes(info),
    },
    bytes(JSON.stringify(variables)),
    bytes(JSON.stringify([lease.organizationId, lease.projectId, ...lease.keys])),
  )
  return { ...lease, enc: base64url(enc), ciphertext: base64url(ct) }
}

const REFUSED = 'The lease cannot be opened'

describe('openLease', () => {
  it('returns the variables by name', async () => {
    const key = await createLeaseKey()
    expect(key.publicKey).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(await openLease(await seal(key.publicKey, VARIABLES), key)).toEqual(VARIABLES)
    expect(await openLease(await seal(key.publicKey, {}), key)).toEqual({})
  })

  it('opens 12 MiB', async () => {
    const key = await createLeaseKey()
    const large = Object.fromEntries(Array.from({ length: 192 }, (_, n) => [`KEY_${n}`, 'x'.repeat(65_536)]))
    expect(await openLease(await seal(key.publicKey, large), key)).toEqual(large)
  })

  it('refuses a lease that was sealed to another key', async () => {
    const [key, another] = [await createLeaseKey(), await createLeaseKey()]
    await expect(openLease(await seal(another.publicKey, VARIABLES), key)).rejects.toThrow(REFUSED)
  })

  it('refuses a lease of another organization or project, or with other names or values', async () => {
    const key = await createLeaseKey()
    const lease = await seal(key.publicKey, VARIABLES)
    const [first = '', ...others] = lease.keys
    const changes: Partial<SealedLease>[] = [
      { projectId: 'another' },
      { organizationId: crypto.randomUUID() },
      { keys: [...others, first] },
      { keys: others },
      { keys: ['CHANGED', ...others] },
      { keys: [...lease.keys, 'MORE'] },
      { ciphertext: lease.ciphertext.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')) },
      { ciphertext: '' },
      { ciphertext: '%' },
      { enc: (await seal(key.publicKey, VARIABLES)).enc },
    ]
    for (const change of changes) {
      await expect(openLease({ ...lease, ...change }, key), JSON.stringify(change)).rejects.toThrow(REFUSED)
    }
  })

  it('refuses what was sealed for another purpose', async () => {
    const key = await createLeaseKey()
    await expect(openLease(await seal(key.publicKey, VARIABLES, { info: 'other' }), key)).rejects.toThrow(REFUSED)
  })

  it('refuses a lease that names other variables than it has', async () => {
    const key = await createLeaseKey()
    const lease = await seal(key.publicKey, VARIABLES, { keys: ['GREETING'] })
    await expect(openLease(lease, key)).rejects.toThrow('does not have the variables that it names')
  })

  it('has a private key that cannot be exported', async () => {
    const { privateKey } = await createLeaseKey()
    expect(privateKey.extractable).toBe(false)
    await expect(crypto.subtle.exportKey('jwk', privateKey)).rejects.toThrow()
  })
})

describe('leaseVariables', () => {
  /** A service that seals `VARIABLES` to each key that it gets. */
  const recording = () => {
    const requests: { url: string; body: { publicKey: string } }[] = []
    const fetch = async (request: Request) => {
      const body: { publicKey: string } = await request.json()
      requests.push({ url: request.url, body })
      const [, projectId = ''] = /projects\/([^/]+)/.exec(request.url) ?? []
      return Response.json(await seal(body.publicKey, VARIABLES, { projectId: decodeURIComponent(projectId) }))
    }
    return { client: new Client({ url: 'https://workspace.example', apiKey: 'wsk_x', fetch }), requests }
  }

  it('asks for the variables with a new key each time, and opens the response', async () => {
    const { client, requests } = recording()
    expect(await leaseVariables(client, 'a/b')).toEqual(VARIABLES)
    expect(await leaseVariables(client, 'a/b', ['EMPTY', 'GREETING', 'NAME'])).toEqual(VARIABLES)
    const publicKey = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)
    const url = 'https://workspace.example/v1/projects/a%2Fb/environment-variables/lease'
    expect(requests).toEqual([
      { url, body: { publicKey } },
      { url, body: { publicKey, keys: ['EMPTY', 'GREETING', 'NAME'] } },
    ])
    expect(requests[0]?.body.publicKey).not.toBe(requests[1]?.body.publicKey)
  })

  it('refuses a lease for other variables or another project than requested', async () => {
    const { client } = recording()
    const refusal = 'The lease is for another project or for other variables than requested.'
    await expect(leaseVariables(client, 'website', ['GREETING'])).rejects.toThrow(refusal)
    const fetch = async (request: Request) =>
      Response.json(await seal(((await request.json()) as { publicKey: string }).publicKey, VARIABLES))
    const rerouted = new Client({ url: 'https://workspace.example', apiKey: 'wsk_x', fetch })
    await expect(leaseVariables(rerouted, 'another')).rejects.toThrow(refusal)
  })

  it('opens what the service seals', async () => {
    const workspace = await Workspace.create()
    const projectId = await workspace.addProject()
    await workspace.addVariable(projectId, 'GREETING', 'Grüße 🦊')
    await workspace.addVariable(projectId, 'TOKEN', 'secret')
    const key = await workspace.addKey({ scopes: ['environment-variables:lease'], projectIds: [projectId] })
    const client = new Client({ url: ORIGIN, apiKey: key, fetch: serve })
    expect(await leaseVariables(client, projectId)).toEqual({ GREETING: 'Grüße 🦊', TOKEN: 'secret' })
    expect(await leaseVariables(client, projectId, ['TOKEN'])).toEqual({ TOKEN: 'secret' })
  })

  it('throws the error of the service', async () => {
    const workspace = await Workspace.create()
    const projectId = await workspace.addProject()
    const client = new Client({ url: ORIGIN, apiKey: await workspace.addKey(), fetch: serve })
    await expect(leaseVariables(client, projectId)).rejects.toMatchObject({
      name: 'WorkspaceError',
      message: expect.stringContaining('restricted to'),
      status: 403,
      code: 'restricted_key_required',
    })
  })
})
