/**
 * Leases of environment variables: sealed to the caller's key by HPKE (RFC 9180), and opened here with the private key.
 */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { suite } from '../../../src/resources/environment-variables/lease.ts'
import { type ApiResponse, type RequestOptions, request } from '../../support/api.ts'
import { watchedDatabase } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { eventsOf } from '../../support/events.ts'
import { Workspace } from '../../support/workspace.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const INFO = Buffer.from('workspace-api environment-variables lease v1')
const OTHER_RING = `other:${Buffer.alloc(32, 7).toString('base64')}`
const LARGEST = 64 * 1024

const base64Url = (bytes: ArrayBuffer | Uint8Array) => Buffer.from(bytes as Uint8Array).toString('base64url')
const hex = (bytes: ArrayBuffer) => Buffer.from(bytes).toString('hex')
const bytesOf = (text: string) => Buffer.from(text, 'hex')

interface Lease {
  readonly organizationId: string
  readonly projectId: string
  readonly keys: readonly string[]
  readonly enc: string
  readonly ciphertext: string
}

/** A key pair of a caller. */
async function newPair() {
  const { publicKey, privateKey } = await suite.kem.generateKeyPair()
  return { privateKey, publicKey: base64Url(await suite.kem.serializePublicKey(publicKey)) }
}

/** The plaintext. @throws if it is not for this key, organization and project, or not of these names. */
async function opened(privateKey: CryptoKey, lease: Lease, info = INFO): Promise<string> {
  const { organizationId, projectId, keys, enc, ciphertext } = lease
  const recipient = await suite.createRecipientContext({
    recipientKey: privateKey,
    enc: Buffer.from(enc, 'base64url'),
    info,
  })
  const aad = Buffer.from(JSON.stringify([organizationId, projectId, ...keys]))
  return Buffer.from(await recipient.open(Buffer.from(ciphertext, 'base64url'), aad)).toString()
}

const pathOf = (projectId: string) => `/v1/projects/${encodeURIComponent(projectId)}/environment-variables`

function askLease(projectId: string, json: object, options: RequestOptions): Promise<ApiResponse> {
  return request('POST', `${pathOf(projectId)}/lease`, { json, ...options })
}

/** A project with variables, and a key that may lease them. */
async function withVariables(values: Readonly<Record<string, string>>) {
  const workspace = await Workspace.create()
  const projectId = await workspace.addProject()
  for (const [name, value] of Object.entries(values)) await workspace.addVariable(projectId, name, value)
  const key = await workspace.addKey({ projectIds: [projectId], scopes: ['environment-variables:lease'] })
  return { workspace, projectId, key, pair: await newPair() }
}

/** The names in the event of each lease, in order. */
const leasedIn = async (workspace: Workspace) => (await eventsOf(workspace)).map(({ resource }) => resource.name)

/**
 * The CFRG's test vector of the suite in base mode (test-vectors.json of draft-irtf-cfrg-hpke, which RFC 9180 names):
 * kem_id 32, kdf_id 1, aead_id 2.
 */
const VECTOR = {
  info: '4f6465206f6e2061204772656369616e2055726e',
  ikmE: '2cd7c601cefb3d42a62b04b7a9041494c06c7843818e0ce28a8f704ae7ab20f9',
  ikmR: 'dac33b0e9db1b59dbbea58d59a14e7b5896e9bdf98fad6891e99d1686492b9ee',
  skRm: '497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d',
  pkRm: '430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c',
  enc: '6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256',
  plaintext: '4265617574792069732074727574682c20747275746820626561757479',
  encryptions: [
    {
      aad: '436f756e742d30',
      ciphertext: 'e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a',
    },
    {
      aad: '436f756e742d31',
      ciphertext: '2c43aff25343fdbff864506f0818b9d87df84ea01b1a2144d23b4d40c26bf655fdf197fe40297a8aebeed5cc2d',
    },
    {
      aad: '436f756e742d32',
      ciphertext: 'e0a8f2cf92ff61215edbb8c55dc31fe9e2eb42a5685867bb6854211542099f9e940c4b41c192bc390835b1a5f7',
    },
  ],
}

describe('the HPKE suite of leases', () => {
  it('is DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM', () => {
    expect([suite.kem.id, suite.kdf.id, suite.aead.id]).toEqual([32, 1, 2])
  })

  it("seals the CFRG's test vector", async () => {
    const recipientPublicKey = await suite.kem.deserializePublicKey(bytesOf(VECTOR.pkRm))
    const info = bytesOf(VECTOR.info)
    const sender = await suite.createSenderContext({ recipientPublicKey, info, ekm: bytesOf(VECTOR.ikmE) })
    expect(hex(sender.enc)).toBe(VECTOR.enc)
    for (const { aad, ciphertext } of VECTOR.encryptions) {
      expect(hex(await sender.seal(bytesOf(VECTOR.plaintext), bytesOf(aad)))).toBe(ciphertext)
    }
  })

  it("opens the CFRG's test vector, whose key pair it derives", async () => {
    const recipientKey = await suite.kem.deserializePrivateKey(bytesOf(VECTOR.skRm))
    const info = bytesOf(VECTOR.info)
    const recipient = await suite.createRecipientContext({ recipientKey, info, enc: bytesOf(VECTOR.enc) })
    for (const { aad, ciphertext } of VECTOR.encryptions) {
      expect(hex(await recipient.open(bytesOf(ciphertext), bytesOf(aad)))).toBe(VECTOR.plaintext)
    }
    const derived = await suite.kem.deriveKeyPair(bytesOf(VECTOR.ikmR))
    expect(hex(await suite.kem.serializePublicKey(derived.publicKey))).toBe(VECTOR.pkRm)
  })
})

describe('a lease', () => {
  const VALUES = {
    A: '',
    JSON: '{"a":"\\u0000\\\\"}\r\n\t\u0001\u007f',
    UNICODE: '\ufeffe\u0301 \u65e5\u672c \u{1f469}\u200d\u{1f680} \u{10ffff} \u2028',
    ['__proto__']: 'a name like any other',
    a: 'lower case comes last',
  }
  const NAMES = ['A', 'JSON', 'UNICODE', '__proto__', 'a']

  it('opens to the values of all variables, in order of name', async () => {
    const { workspace, projectId, key, pair } = await withVariables(VALUES)
    await workspace.addVariable(await workspace.addProject(), 'OTHER', 'of another project')
    const elsewhere = await Workspace.create()
    await elsewhere.addProject(projectId)
    await elsewhere.addVariable(projectId, 'THEIRS', 'of another organization')
    const { publicKey } = pair
    const { status, headers, body } = await askLease(projectId, { publicKey }, { key })
    expect(status).toBe(200)
    expect(headers.get('Cache-Control')).toBe('no-store')
    const { organizationId } = workspace
    expect(body).toEqual({
      organizationId,
      projectId,
      keys: NAMES,
      enc: expect.stringMatching(/^[\w-]{43}$/),
      ciphertext: expect.stringMatching(/^[\w-]+$/),
    })
    expect(await opened(pair.privateKey, body)).toBe(JSON.stringify(VALUES))
  })

  it('opens to the values of the named variables, in order of name, whatever the case of the UUID', async () => {
    const { projectId, key, pair } = await withVariables(VALUES)
    const json = { publicKey: pair.publicKey, keys: ['a', 'A'] }
    const { status, body } = await askLease(projectId.toUpperCase(), json, { key })
    expect([status, body.projectId, body.keys]).toEqual([200, projectId, ['A', 'a']])
    expect(await opened(pair.privateKey, body)).toBe(JSON.stringify({ A: VALUES.A, a: VALUES.a }))
  })

  it('opens to an empty object for a project without variables', async () => {
    const { workspace, projectId, key, pair } = await withVariables({})
    const { status, body } = await askLease(projectId, { publicKey: pair.publicKey }, { key })
    expect([status, body.keys, await opened(pair.privateKey, body)]).toEqual([200, [], '{}'])
    expect(await leasedIn(workspace)).toEqual([null])
  })

  it('opens with no other private key, and as no other lease', async () => {
    const { projectId, key, pair } = await withVariables({ A: 'one', B: 'two' })
    const { privateKey, publicKey } = pair
    const { body } = await askLease(projectId, { publicKey }, { key })
    expect(await opened(privateKey, body)).toBe('{"A":"one","B":"two"}')
    await expect(opened((await newPair()).privateKey, body)).rejects.toThrow()
    const id = crypto.randomUUID()
    const other = (await askLease(projectId, { publicKey }, { key })).body
    const changes: Partial<Lease>[] = [
      { organizationId: id },
      { projectId: id },
      { organizationId: body.projectId, projectId: body.organizationId },
      { keys: [] },
      { keys: ['A'] },
      { keys: ['B', 'A'] },
      { keys: ['A', 'C'] },
      { keys: ['A', 'B', 'C'] },
      { keys: ['A,B'] },
      { enc: other.enc },
      { ciphertext: other.ciphertext },
    ]
    for (const change of changes) await expect(opened(privateKey, { ...body, ...change })).rejects.toThrow()
    await expect(opened(privateKey, body, Buffer.from('v2'))).rejects.toThrow()
  })

  it('that is repeated is a new one, and recorded again', async () => {
    const { workspace, projectId, key, pair } = await withVariables({ A: 'one' })
    const options = { key, headers: { 'Idempotency-Key': 'same' } }
    const [first, second] = [
      await askLease(projectId, { publicKey: pair.publicKey }, options),
      await askLease(projectId, { publicKey: pair.publicKey }, options),
    ]
    expect(first.body.enc).not.toBe(second.body.enc)
    expect(first.body.ciphertext).not.toBe(second.body.ciphertext)
    expect(await opened(pair.privateKey, second.body)).toBe('{"A":"one"}')
    expect(await leasedIn(workspace)).toEqual(['A', 'A'])
  })

  it('makes one trip', async () => {
    const { projectId, key, pair } = await withVariables({ A: 'one' })
    await askLease(projectId, { publicKey: pair.publicKey }, { key })
    const use = watchedDatabase()
    await askLease(projectId, { publicKey: pair.publicKey }, { key, environment: { DB: use.DB } })
    expect([use.calls, use.statements.map(({ rowsWritten }) => rowsWritten)]).toEqual([1, [0, 0, 1, 0]])
  })

  it('reads an archived project, and no deleted one', async () => {
    const { workspace, projectId, key, pair } = await withVariables({ A: 'one' })
    await workspace.archiveProject(projectId)
    const archived = await askLease(projectId, { publicKey: pair.publicKey }, { key })
    expect(await opened(pair.privateKey, archived.body)).toBe('{"A":"one"}')
    await workspace.delete('project', projectId)
    const { status, headers } = await askLease(projectId, { publicKey: pair.publicKey }, { key })
    expect([status, headers.get('Error-Code')]).toEqual([404, 'project_not_found'])
  })
})

describe('a variable that is named lease', () => {
  it('is put, leased and deleted as any other', async () => {
    const { workspace, projectId, key, pair } = await withVariables({})
    const path = `${pathOf(projectId)}/lease`
    const writer = await workspace.addKey()
    expect((await request('PUT', path, { key: writer, json: { value: 'x' } })).status).toBe(201)
    const { body } = await askLease(projectId, { publicKey: pair.publicKey, keys: ['lease'] }, { key })
    expect(await opened(pair.privateKey, body)).toBe('{"lease":"x"}')
    expect((await request('GET', path, { key: writer })).headers.get('Allow')).toBe('DELETE, PUT, POST')
    expect((await request('DELETE', path, { key: writer })).status).toBe(200)
  })
})

describe('publicKey', () => {
  const VALID = base64Url(Buffer.alloc(32, 9))

  it.each([
    ['no text', 9],
    ['nothing', ''],
    ['31 bytes', base64Url(Buffer.alloc(31, 9))],
    ['33 bytes', base64Url(Buffer.alloc(33, 9))],
    ['base64 with padding', `${VALID}=`],
    ['base64', Buffer.alloc(32, 0xff).toString('base64').slice(0, 43)],
    ['bits beyond the 32 bytes', `${VALID.slice(0, 42)}l`],
    ['hexadecimal', '09'.repeat(32)],
    ['a line break', `${VALID.slice(0, 42)}\n`],
    ['a private key', { kty: 'OKP', crv: 'X25519', d: VALID }],
  ])('is not %s', async (_, publicKey) => {
    const { workspace, projectId, key } = await withVariables({ A: 'one' })
    const { status, headers, body } = await askLease(projectId, { publicKey }, { key })
    expect([status, headers.get('Error-Code')]).toEqual([400, 'invalid_input'])
    expect(body.error).toMatch(/^publicKey /)
    expect(await leasedIn(workspace)).toEqual([])
  })

  /** Every encoding of a u-coordinate of low order on the curve or its twist (RFC 7748, section 7), little-endian. */
  const P = 2n ** 255n - 19n
  const LOW_ORDER = [
    0n,
    1n,
    325606250916557431795983626356110631294008115727848805560023387167927233504n,
    39382357235489614581723060781553021112529911719440698176882885853963445705823n,
    P - 1n,
    P,
    P + 1n,
  ]
  const encodings = LOW_ORDER.flatMap((point) => [point, point + 2n ** 255n]).map((number) =>
    Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse().toString('base64url'),
  )

  it.each(encodings)('is no point of low order: %s', async (publicKey) => {
    const { workspace, projectId, key } = await withVariables({ A: 'one' })
    const { status, headers, body } = await askLease(projectId, { publicKey }, { key })
    expect([status, headers.get('Error-Code'), body.error]).toEqual([
      400,
      'invalid_input',
      'publicKey is a low-order point, so anyone could open the lease; allowed: the public key of a new X25519 key pair.',
    ])
    expect(await leasedIn(workspace)).toEqual([])
  })

  it('of low order is refused after a key that is not valid', async () => {
    const { workspace, projectId } = await withVariables({ A: 'one' })
    const { id, token } = await workspace.addKeyWithId()
    await workspace.revokeKey(id)
    const { status } = await askLease(projectId, { publicKey: encodings[0] }, { key: token })
    expect(status).toBe(401)
  })
})

describe('keys', () => {
  it.each([
    [['B'], '"B"'],
    [['a', 'A'], '"a"'],
    [['B', 'A', 'C', 'D'], '"B", "C", "D"'],
    [['Z', 'Y', 'A', 'X', 'W', 'V'], '"Z", "Y", "X" and others'],
    [['N'.repeat(255)], `"${'N'.repeat(40)}…"`],
  ])('that the project does not have are named: %j', async (keys, named) => {
    const { workspace, projectId, key, pair } = await withVariables({ A: 'one' })
    await workspace.addVariable(await workspace.addProject(), 'B', 'of another project')
    const { status, headers, body } = await askLease(projectId, { publicKey: pair.publicKey, keys }, { key })
    expect([status, headers.get('Error-Code'), body.error]).toEqual([
      404,
      'environment_variable_not_found',
      `The project has no environment variable ${named}. Keys are case-sensitive.`,
    ])
    expect(await leasedIn(workspace)).toEqual([])
  })

  it.each([
    ['not a list', 'A'],
    ['empty', []],
    ['more than 100', Array.from({ length: 101 }, (_, index) => `K${index}`)],
    ['the same twice', ['A', 'B', 'A']],
    ['no names', ['A-B']],
  ])('cannot be %s', async (_, keys) => {
    const { projectId, key, pair } = await withVariables({ A: 'one' })
    const { status, body } = await askLease(projectId, { publicKey: pair.publicKey, keys }, { key })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^keys/)])
  })

  it('are up to 100 names of 255 characters', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(255, 'N'))
    const { projectId, key, pair } = await withVariables(Object.fromEntries(names.map((name) => [name, 'x'])))
    const json = { publicKey: pair.publicKey, keys: names.toReversed() }
    const { status, body } = await askLease(projectId, json, { key })
    expect([status, body.keys]).toEqual([200, [...names].sort()])
  })
})

describe('the API key of a lease', () => {
  const refusal = async (projectId: string, key: string) => {
    const { publicKey } = await newPair()
    const { status, headers, body } = await askLease(projectId, { publicKey }, { key })
    return [status, headers.get('Error-Code'), body.error]
  }

  it('is restricted to projects', async () => {
    const { workspace, projectId } = await withVariables({ A: 'one' })
    expect(await refusal(projectId, await workspace.addKey())).toEqual([
      403,
      'restricted_key_required',
      'A lease needs an API key that is restricted to projects. Create one: POST /v1/api-keys with "projectIds" and the scope "environment-variables:lease".',
    ])
    expect(await leasedIn(workspace)).toEqual([])
  })

  it('is created by a key that may not lease itself', async () => {
    const { workspace, projectId, pair } = await withVariables({ A: 'one' })
    const json = { name: 'CI', scopes: ['environment-variables:lease'], projectIds: [projectId] }
    const created = await request('POST', '/v1/api-keys', { key: await workspace.addKey(), json })
    const { token } = created.body
    const { body } = await askLease(projectId, { publicKey: pair.publicKey }, { key: token })
    expect(await opened(pair.privateKey, body)).toBe('{"A":"one"}')
  })

  it('reaches the project, is of its organization, has the scope and is valid', async () => {
    const { workspace, projectId } = await withVariables({ A: 'one' })
    const restricted = { projectIds: [projectId] }
    const elsewhere = await Workspace.create()
    await elsewhere.addProject(projectId)
    const otherProject = await workspace.addProject()
    const revoked = await workspace.addKeyWithId(restricted)
    await workspace.revokeKey(revoked.id)
    const keys: [number, string, string][] = [
      [403, 'project_forbidden', await workspace.addKey({ projectIds: [otherProject] })],
      [403, 'project_forbidden', await workspace.addKey({ projectIds: [] })],
      [400, 'missing_scope', await workspace.addKey({ ...restricted, scopes: ['environment-variables:write'] })],
      [401, 'api_key_revoked', revoked.token],
      [401, 'api_key_expired', await workspace.addKey({ ...restricted, expiresAt: '2020-01-01T00:00:00Z' })],
    ]
    for (const [status, code, key] of keys) expect((await refusal(projectId, key)).slice(0, 2)).toEqual([status, code])
    const theirs = await elsewhere.addKey(restricted)
    const { publicKey } = await newPair()
    const { body } = await askLease(projectId, { publicKey }, { key: theirs })
    expect([body.organizationId, body.keys]).toEqual([elsewhere.organizationId, []])
    await elsewhere.delete('project', projectId)
    expect((await refusal(projectId, theirs)).slice(0, 2)).toEqual([404, 'project_not_found'])
    expect(await leasedIn(workspace)).toEqual([])
  })
})

describe('the event of a lease', () => {
  it('has the names in order, and no value', async () => {
    const { workspace, projectId, key, pair } = await withVariables({ B: 'a-secret', A: 'a-secret', C: 'x' })
    await askLease(projectId, { publicKey: pair.publicKey, keys: ['B', 'A'] }, { key })
    await askLease(projectId, { publicKey: pair.publicKey }, { key })
    const events = await eventsOf(workspace)
    const resource = { type: 'environment-variables', id: projectId, path: pathOf(projectId) }
    expect(events).toMatchObject([
      { type: 'environment-variables.leased', resource: { ...resource, name: 'A, B' }, projectId },
      { type: 'environment-variables.leased', resource: { ...resource, name: 'A, B, C' }, projectId },
    ])
    expect(JSON.stringify(events)).not.toContain('a-secret')
  })

  it('has up to 1,000 characters of names', async () => {
    const long = ['A', 'B', 'C'].map((letter) => letter.repeat(255))
    const last = 'D'.repeat(229)
    const names = [...long, last]
    const { workspace, projectId, key, pair } = await withVariables(
      Object.fromEntries(names.map((name) => [name, 'x'])),
    )
    await askLease(projectId, { publicKey: pair.publicKey }, { key })
    await workspace.addVariable(projectId, 'E')
    await askLease(projectId, { publicKey: pair.publicKey }, { key })
    const name = names.join(', ')
    expect(name.length).toBe(1000)
    expect(await leasedIn(workspace)).toEqual([name, `${name}…`])
  })
})

describe('a large lease', () => {
  const VARIABLES = 192

  /** Stores values of 64 KiB: 12 MiB. */
  async function withLargest(value: string) {
    const names = Array.from({ length: VARIABLES }, (_, index) => `KEY_${String(index).padStart(3, '0')}`)
    return { names, ...(await withVariables(Object.fromEntries(names.map((name) => [name, value])))) }
  }

  it.each([
    ['ASCII', 'x'.repeat(LARGEST)],
    ['any script', `${'\u65e5'.repeat(LARGEST / 3)}x`],
    ['quotation marks and line breaks', 'xxxxxx"\n'.repeat(LARGEST / 8)],
  ])('has 12 MiB of %s', async (_, value) => {
    const { names, projectId, key, pair } = await withLargest(value)
    const { status, body } = await askLease(projectId, { publicKey: pair.publicKey }, { key })
    expect([status, body.keys]).toEqual([200, names])
    const values = JSON.parse(await opened(pair.privateKey, body))
    expect(Object.values(values).every((each) => each === value)).toBe(true)
    expect(Object.keys(values)).toEqual(names)
  })

  it('has up to 16 MiB of JSON; beyond that, the variables are leased in parts', async () => {
    const { workspace, names, projectId, key, pair } = await withLargest('\n'.repeat(LARGEST))
    const { publicKey } = pair
    const { status, headers, body } = await askLease(projectId, { publicKey }, { key })
    expect([status, headers.get('Error-Code'), body.error]).toEqual([
      409,
      'lease_too_large',
      'The variables are too large for one lease: their JSON has more than 16 MiB. Lease fewer at once: name them in keys.',
    ])
    for (const keys of [names.slice(0, 100), names.slice(100)]) {
      const part = await askLease(projectId, { publicKey, keys }, { key })
      expect([part.status, part.body.keys]).toEqual([200, keys])
    }
    expect(await leasedIn(workspace)).toHaveLength(3)
  })
})

describe('a value that cannot be decrypted', () => {
  it.each([
    ['ENCRYPTION_KEYS lacks its key', { ENCRYPTION_KEYS: OTHER_RING }],
    ['ENCRYPTION_KEYS is missing', { ENCRYPTION_KEYS: '' }],
  ])('is a 500 that tells nothing: %s', async (_, environment) => {
    const { projectId, key, pair } = await withVariables({ A: 'a-secret' })
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status, headers, body } = await askLease(projectId, { publicKey: pair.publicKey }, { key, environment })
    expect([status, headers.get('Error-Code')]).toEqual([500, 'internal_error'])
    expect(logged).toHaveBeenCalledOnce()
    expect(JSON.stringify([body, logged.mock.calls])).not.toMatch(/a-secret|ENCRYPTION_KEYS|not in/)
  })

  it('is a 500 if it was moved to another name', async () => {
    const { projectId, key, pair } = await withVariables({ A: 'a-secret' })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await env.DB.prepare(`UPDATE "environmentVariables" SET "key" = 'MOVED' WHERE "projectId" = ?`)
      .bind(projectId)
      .run()
    expect((await askLease(projectId, { publicKey: pair.publicKey }, { key })).status).toBe(500)
  })
})

describe('the values', () => {
  it('occur in no response, header or log line', async () => {
    const { projectId, key, pair } = await withVariables({ A: 'a-secret-value' })
    const logs = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')].map((log) => log.mockImplementation(() => {}))
    const environment = { REQUEST_LOG: 'on' }
    const { publicKey, privateKey } = pair
    const answers = [
      await askLease(projectId, { publicKey }, { key, environment }),
      await askLease(projectId, { publicKey, keys: ['A', 'B'] }, { key, environment }),
    ]
    expect(await opened(privateKey, answers[0]?.body)).toContain('a-secret-value')
    expect(logs[0]).toHaveBeenCalledTimes(2)
    const text = JSON.stringify([
      answers.map(({ headers, body }) => [...headers, body]),
      logs.map(({ mock }) => mock.calls),
    ])
    for (const encoding of ['utf8', 'base64url', 'hex'] as const)
      expect(text).not.toContain(Buffer.from('a-secret-value').toString(encoding).slice(0, 12))
  })
})
