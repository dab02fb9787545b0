import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseKeyRing } from '../../../../src/crypto/key-ring.ts'
import { open } from '../../../../src/crypto/sealed-value.ts'
import type { Environment } from '../../../../src/environment.ts'
import worker from '../../../../src/index.ts'
import { runEndpointContext } from '../../../../src/resources/work/run-endpoint/sealed-context.ts'
import { PREFIX, type RequestOptions, request } from '../../../support/api.ts'
import { failingDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { dumpStores } from '../../../support/examples.ts'
import { deliverBatch } from '../../../support/queue.ts'
import { Receiver } from '../../../support/receiver.ts'
import { Workspace } from '../../../support/workspace.ts'

const PATH = '/v1/run-endpoint'
const URL_OF_RUNS = 'https://hooks.example.com/runs'
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const DAY_SECONDS = 86_400

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function withKey() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const put = (url: unknown = URL_OF_RUNS, more: RequestOptions = {}) =>
    request('PUT', PATH, { key, json: { url }, ...more })
  const rotate = (json?: unknown) => request('POST', `${PATH}/rotate`, { key, json })
  const read = () => request('GET', PATH, { key })
  const remove = () => request('DELETE', PATH, { key })
  const row = async () => (await workspace.dump('runEndpoints'))[0]
  return { workspace, key, put, rotate, read, remove, row }
}

/** The secrets that verify a delivery that is sent now. */
async function signingSecrets(workspace: Workspace, secrets: string[]): Promise<string[]> {
  const receiver = new Receiver()
  await env.DB.prepare('UPDATE "runEndpoints" SET "url" = ? WHERE "organizationId" = ?')
    .bind(receiver.url, workspace.organizationId)
    .run()
  const scheduleId = await workspace.addSchedule('project', await workspace.addProject())
  const id = await workspace.addRun(scheduleId)
  await deliverBatch([{ runs: [{ organizationId: workspace.organizationId, id, attempts: 0 }] }])
  const [received] = await receiver.received()
  return secrets.filter((secret) => {
    try {
      return new Webhook(secret).verify(String(received?.body), { ...received?.headers })
    } catch {
      return false
    }
  })
}

describe('putRunEndpoint', () => {
  it('sets the run endpoint and returns its secret', async () => {
    const { put, read } = await withKey()
    const { status, headers, body } = await put()
    expect([status, headers.get('Location')]).toEqual([201, PATH])
    expect(body).toEqual({
      url: URL_OF_RUNS,
      previousSecretExpiresAt: null,
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: body.createdAt,
      secret: expect.stringMatching(SECRET),
    })
    const { secret, ...rest } = body
    expect((await read()).body).toEqual(rest)
    expect(JSON.stringify((await read()).body)).not.toContain(secret)
  })

  it('keeps the secret when the URL changes, and does not return it again', async () => {
    const { workspace, put, row } = await withKey()
    const first = await put()
    const sealed = (await row())?.sealedSecret
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    const second = await put('https://hooks.example.com/others')
    expect(second.body).toEqual({
      ...first.body,
      url: 'https://hooks.example.com/others',
      updatedAt: new Date().toISOString(),
      secret: null,
    })
    expect((await put('https://hooks.example.com/others')).body.secret).toBeNull()
    expect((await row())?.sealedSecret).toBe(sealed)
    expect(await signingSecrets(workspace, [first.body.secret])).toEqual([first.body.secret])
  })

  it('keeps the previous secret valid', async () => {
    const { workspace, put, rotate } = await withKey()
    const first = (await put()).body.secret
    const rotated = (await rotate()).body
    const { body } = await put('https://hooks.example.com/others')
    expect(body).toMatchObject({ secret: null, previousSecretExpiresAt: rotated.previousSecretExpiresAt })
    expect(await signingSecrets(workspace, [first, rotated.secret])).toEqual([first, rotated.secret])
  })

  it('creates a new secret after the run endpoint was deleted', async () => {
    const { workspace, put, remove } = await withKey()
    const first = (await put()).body.secret
    await remove()
    const second = (await put()).body.secret
    expect(second).toMatch(SECRET)
    expect(await signingSecrets(workspace, [first, second])).toEqual([second])
  })

  it('creates one secret for concurrent requests', async () => {
    const { workspace, put, read } = await withKey()
    const urls = Array.from({ length: 10 }, (_, index) => `https://hooks.example.com/${index}`)
    const answers = await Promise.all(urls.map((url) => put(url)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(({ body }) => (body.secret === null ? 200 : 201)))
    const secrets = answers.map(({ body }) => body.secret).filter((secret) => secret !== null)
    expect(secrets).toHaveLength(1)
    expect(urls).toContain((await read()).body.url)
    expect(await workspace.dump('runEndpoints')).toHaveLength(1)
    expect(await signingSecrets(workspace, secrets)).toEqual(secrets)
  })

  it('responds under the prefix too', async () => {
    const { key } = await withKey()
    const json = { url: URL_OF_RUNS }
    expect((await request('PUT', PREFIX + PATH, { key, json })).body.secret).toMatch(SECRET)
    expect((await request('GET', PREFIX + PATH, { key })).body.url).toBe(URL_OF_RUNS)
  })

  it.each([{}, { url: null }, { url: 1 }, { url: [URL_OF_RUNS] }, { url: URL_OF_RUNS, secret: 'whsec_x' }, [], null])(
    'refuses the body %j',
    async (json) => {
      const { key, row } = await withKey()
      expect((await request('PUT', PATH, { key, json })).status).toBe(400)
      expect(await row()).toBeUndefined()
    },
  )

  it('stores nothing without a valid ENCRYPTION_KEYS', async () => {
    const { put, row } = await withKey()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const ENCRYPTION_KEYS of ['', 'wrong']) {
      expect((await put(URL_OF_RUNS, { environment: { ENCRYPTION_KEYS } })).status).toBe(500)
    }
    expect(await row()).toBeUndefined()
  })

  it('returns 503 while D1 is unavailable', async () => {
    const { put, key, row } = await withKey()
    await put()
    const before = await row()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const environment = { DB: failingDatabase(new Error('D1_ERROR: D1 DB is overloaded.')) }
    for (const [method, path, json] of [
      ['PUT', PATH, { url: 'https://hooks.example.com/others' }],
      ['GET', PATH, undefined],
      ['POST', `${PATH}/rotate`, {}],
      ['DELETE', PATH, undefined],
    ] as const) {
      expect((await request(method, path, { key, environment, ...(json && { json }) })).status).toBe(503)
    }
    expect(await row()).toEqual(before)
  })
})

describe('an invalid body', () => {
  const SECRET = 'hunter2-sw0rdfish'
  const PIECE = /hunter2|sw0rdfish/i

  it.each<[string, unknown]>([
    ['a text', SECRET],
    ['a URL', `https://hooks.example.com/${SECRET}`],
    ['a list', [SECRET]],
    ['a list of URLs', [`https://hooks.example.com/${SECRET}`]],
    ['a list as URL', { url: [`https://hooks.example.com/${SECRET}`] }],
    ['an object as URL', { url: { href: `https://hooks.example.com/${SECRET}` } }],
    ['a URL in the wrong case', { Url: `https://hooks.example.com/${SECRET}` }],
    ['a URL with a secret beside it', { url: URL_OF_RUNS, secret: SECRET }],
    ['no URL', { url: SECRET }],
    ['a URL with NUL', { url: `https://hooks.example.com/${SECRET}\0` }],
    ['a URL with a lone surrogate', { url: `https://hooks.example.com/${SECRET}\ud800` }],
    ['a URL that is too long', { url: `https://hooks.example.com/${SECRET.repeat(200)}` }],
    ['a URL with a password', { url: `https://${SECRET}:${SECRET}@hooks.example.com/` }],
    ['a URL with a fragment', { url: `https://hooks.example.com/${SECRET}?a=${SECRET}#${SECRET}` }],
    ['a URL of http', { url: `http://hooks.example.com/${SECRET}?a=${SECRET}` }],
    ['a URL of this machine', { url: `https://localhost/${SECRET}?a=${SECRET}` }],
    ['a URL of an address', { url: `https://127.0.0.1:8443/${SECRET}` }],
    ['a URL of data', { url: `data:text/plain,${SECRET}` }],
    ['a user name and a password', { url: `${SECRET}:${SECRET}` }],
  ])('never repeats a secret in the error: %s', async (_, json) => {
    const { key } = await withKey()
    const { status, body } = await request('PUT', PATH, { key, json })
    expect([status, body.error]).toEqual([400, expect.not.stringMatching(PIECE)])
  })

  it('repeats only the origin of the URL in the error', async () => {
    const { put } = await withKey()
    const errorOf = async (url: string) => (await put(url)).body.error
    const allowed = 'allowed: an https URL of a public host, such as "https://hooks.example.com/path".'
    expect(await errorOf(`http://hooks.example.com:8080/${SECRET}`)).toBe(
      `url does not begin with https://; got "http://hooks.example.com:8080"; ${allowed}`,
    )
    expect(await errorOf(SECRET)).toBe(`url is not a URL; got a string; ${allowed}`)
    expect(await errorOf('https://whsec_x.localhost/')).toBe(
      `url has a host that is not public; got a string; ${allowed}`,
    )
  })
})

const LONGEST = `https://hooks.example.com/${'a'.repeat(2000 - 'https://hooks.example.com/'.length)}`

/** URLs that may be set, and how each is stored if that differs. */
const ALLOWED: [string, string?][] = [
  ['https://hooks.example.com', 'https://hooks.example.com/'],
  ['https://hooks.example.com/'],
  ['https://hooks.example.com/runs?team=a&b=%20'],
  ['https://hooks.example.com:8443/runs'],
  ['https://hooks.example.com:443/runs', 'https://hooks.example.com/runs'],
  ['https://hooks.example.com:1024/'],
  ['https://hooks.example.com:65535/'],
  ['HTTPS://HOOKS.EXAMPLE.COM/Runs', 'https://hooks.example.com/Runs'],
  ['https://hooks.example.com./runs'],
  ['https://a.b.c.d.example.co.uk/'],
  ['https://example.com/'],
  ['https://bücher.example.com/ä', 'https://xn--bcher-kva.example.com/%C3%A4'],
  ['https://xn--bcher-kva.example.com/'],
  ['https://例え.com/', 'https://xn--r8jz45g.com/'],
  ['https://hooks。example。com/', 'https://hooks.example.com/'],
  ['https://hook_s.example.com/'],
  ['https://1.example.com/'],
  ['https://127.0.0.1.example.com/'],
  ['https://localhost.example.com/'],
  ['https://local.example.com/'],
  ['https://notlocal.com/'],
  ['https://hooks.example.com/../runs', 'https://hooks.example.com/runs'],
  ['https://hooks.example.com/http://localhost/'],
  ['https://hooks.example.com/?u=ada:secret@localhost'],
  ['https://hooks.example.com/@localhost'],
  ['https:hooks.example.com/runs', 'https://hooks.example.com/runs'],
  [LONGEST],
]

const REFUSED: [string, string][] = [
  ['nothing', ''],
  ['a path', '/runs'],
  ['no scheme', 'hooks.example.com/runs'],
  ['no host', 'https://'],
  ['a text', 'not a URL'],
  ['a host with a space', 'https://hooks example.com/'],
  ['a port out of range', 'https://hooks.example.com:65536/'],
  ['a port of letters', 'https://hooks.example.com:https/'],
  ['over 2,000 characters', `${LONGEST}a`],
  ['NUL', 'https://hooks.example.com/\0'],
  ['a lone surrogate', 'https://hooks.example.com/\ud800'],
  ['http', 'http://hooks.example.com/'],
  ['http in upper case', 'HTTP://hooks.example.com/'],
  ['ftp', 'ftp://hooks.example.com/'],
  ['wss', 'wss://hooks.example.com/'],
  ['file', 'file:///etc/passwd'],
  ['data', 'data:text/plain,https://hooks.example.com/'],
  ['javascript', 'javascript:fetch("https://hooks.example.com")'],
  ['blob', 'blob:https://hooks.example.com/runs'],
  ['another scheme', 'httpss://hooks.example.com/'],
  ['a user name', 'https://ada@hooks.example.com/'],
  ['a user name and a password', 'https://ada:secret@hooks.example.com/'],
  ['a password', 'https://:secret@hooks.example.com/'],
  ['credentials that are encoded', 'https://%61da:%40@hooks.example.com/'],
  ['a host that looks like credentials', 'https://hooks.example.com@localhost/'],
  ['a fragment', 'https://hooks.example.com/#runs'],
  ['a public IPv4 address', 'https://8.8.8.8/'],
  ['a private IPv4 address', 'https://10.0.0.1/'],
  ['a second private IPv4 address', 'https://172.16.0.1/'],
  ['a third private IPv4 address', 'https://192.168.1.1/runs'],
  ['the loopback address', 'https://127.0.0.1/'],
  ['the link-local address of metadata', 'https://169.254.169.254/latest/meta-data/'],
  ['the address of all', 'https://0.0.0.0/'],
  ['the broadcast address', 'https://255.255.255.255/'],
  ['IPv4 with a port', 'https://10.0.0.1:8443/'],
  ['IPv4 with a trailing dot', 'https://10.0.0.1./'],
  ['IPv4 as one decimal number', 'https://2130706433/'],
  ['IPv4 as one octal number', 'https://017700000001/'],
  ['IPv4 as one hexadecimal number', 'https://0x7f000001/'],
  ['IPv4 in octal parts', 'https://0177.0.0.01/'],
  ['IPv4 in hexadecimal parts', 'https://0x7F.0x0.0x0.0x1/'],
  ['IPv4 in mixed parts', 'https://0xA.0.01/'],
  ['IPv4 in two parts', 'https://127.1/'],
  ['IPv4 in three parts', 'https://192.168.257/'],
  ['IPv4 as zero', 'https://0/'],
  ['IPv4 in full-width digits', 'https://１２７.０.０.１/'],
  ['IPv4 with ideographic full stops', 'https://127。0。0。1/'],
  ['IPv4 in circled digits', 'https://①②⑦.⓪.⓪.①/'],
  ['IPv4 percent-encoded', 'https://%31%32%37.0.0.1/'],
  ['an invalid IPv4 address', 'https://256.256.256.256/'],
  ['IPv6 loopback', 'https://[::1]/'],
  ['IPv6 loopback in full', 'https://[0:0:0:0:0:0:0:1]:8443/'],
  ['IPv6 of all', 'https://[::]/'],
  ['a public IPv6 address', 'https://[2606:4700:4700::1111]/'],
  ['a link-local IPv6 address', 'https://[fe80::1]/'],
  ['a unique local IPv6 address', 'https://[fd00::1]/'],
  ['IPv4 mapped to IPv6', 'https://[::ffff:127.0.0.1]/'],
  ['IPv4 mapped to IPv6 in hexadecimal', 'https://[::ffff:7f00:1]/'],
  ['IPv4 translated to IPv6', 'https://[64:ff9b::10.0.0.1]/'],
  ['IPv6 with a zone', 'https://[fe80::1%25eth0]/'],
  ['localhost', 'https://localhost/'],
  ['localhost with a port', 'https://localhost:8443/'],
  ['localhost with a trailing dot', 'https://localhost./'],
  ['localhost with two trailing dots', 'https://localhost../'],
  ['localhost in upper case', 'https://LOCALHOST/'],
  ['localhost percent-encoded', 'https://%6cocalhost/'],
  ['localhost in full-width letters', 'https://ｌｏｃａｌｈｏｓｔ/'],
  ['localhost with a soft hyphen', 'https://local\u00adhost/'],
  ['localhost with a tab', 'https://local\thost/'],
  ['localhost behind backslashes', 'https:\\\\localhost\\runs'],
  ['a name of localhost', 'https://hooks.localhost/'],
  ['.local', 'https://printer.local/'],
  ['.local with a trailing dot', 'https://printer.local./'],
  ['.local with two trailing dots', 'https://printer.local../'],
  ['.LOCAL', 'https://PRINTER.LOCAL/'],
  ['.internal', 'https://metadata.google.internal/'],
  ['.home.arpa', 'https://router.home.arpa/'],
  ['.test', 'https://hooks.test/'],
  ['.example', 'https://hooks.example/'],
  ['.invalid', 'https://hooks.invalid/'],
  ['.onion', 'https://hooks.onion/'],
  ['.alt', 'https://hooks.alt/'],
  ['a single label', 'https://intranet/'],
  ['a single label with a trailing dot', 'https://intranet./'],
  ['a single label in another script', 'https://ローカル/'],
  ['a dot', 'https://./'],
  ['dots', 'https://../'],
  ['an empty label', 'https://hooks..example.com/'],
  ['an IPv4 address with two trailing dots', 'https://127.0.0.1../'],
]

describe('the URL', () => {
  it.each(ALLOWED)('may be %s', async (url, kept = url) => {
    const { put, read } = await withKey()
    const { status, body } = await put(url)
    expect([status, body.url]).toEqual([201, kept])
    expect((await read()).body.url).toBe(kept)
  })

  it.each(REFUSED)('may not have %s: %j', async (_, url) => {
    const { put, row } = await withKey()
    const { status, body } = await put(url)
    expect(status).toBe(400)
    expect(body.error).toMatch(/^url (is|has|does) /)
    expect(await row()).toBeUndefined()
  })

  it('is checked after the key: a revoked key gets 401', async () => {
    const { workspace } = await withKey()
    const { id, token } = await workspace.addKeyWithId()
    await workspace.revokeKey(id)
    const json = { url: 'https://localhost/' }
    expect((await request('PUT', PATH, { key: token, json })).status).toBe(401)
  })

  it('stays unchanged when another is refused, and the error contains no credentials', async () => {
    const { put, read } = await withKey()
    await put()
    const { body } = await put('https://ada:hunter2@hooks.example.com/')
    expect(JSON.stringify(body)).not.toMatch(/ada|hunter2/)
    expect((await read()).body.url).toBe(URL_OF_RUNS)
  })
})

describe('a URL on this machine', () => {
  /** Sends the request to the service at this origin. */
  async function putFrom(origin: string, url: string, setting?: string): Promise<number> {
    const { key } = await withKey()
    const context = createExecutionContext()
    const environment: Environment = {
      ...env,
      ...(setting !== undefined && { LOCAL_RECEIVERS: setting }),
    }
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const { status } = await worker.fetch(
      new Request(origin + PATH, { method: 'PUT', headers, body: JSON.stringify({ url }) }),
      environment,
      context,
    )
    await waitOnExecutionContext(context)
    return status
  }

  const LOCAL_URLS = ['http://localhost:9000/runs', 'https://localhost/', 'http://127.0.0.1:9000/', 'http://[::1]/']

  // The `Host` header of a request decides its origin.
  it.each([
    'http://localhost:8787',
    'http://127.0.0.1:8787',
    'http://[::1]:8787',
    'https://workspace.example',
    'https://api.example.com',
    'http://192.168.1.1:8787',
  ])('is allowed only by the setting, also if the service is called at %s', async (origin) => {
    for (const url of LOCAL_URLS) {
      expect([url, await putFrom(origin, url, 'on')]).toEqual([url, 201])
      for (const setting of ['off', 'ON', 'true', '1', '', undefined]) {
        expect([url, setting, await putFrom(origin, url, setting)]).toEqual([url, setting, 400])
      }
    }
  })

  it.each([
    'http://192.168.0.1/',
    'https://10.0.0.1/',
    'http://hooks.example.com/',
    'https://intranet/',
    'http://ada:secret@localhost/',
    'http://localhost/#runs',
    'http://localhost.example.com/',
  ])('is the only kind that the setting allows: not %s', async (url) => {
    expect(await putFrom('http://localhost:8787', url, 'on')).toBe(400)
  })

  it('does not replace public URLs, which stay allowed', async () => {
    expect(await putFrom('http://localhost:8787', URL_OF_RUNS, 'on')).toBe(201)
  })
})

describe('retrieveRunEndpoint and deleteRunEndpoint', () => {
  it('return 404 without a run endpoint', async () => {
    const { read, remove } = await withKey()
    expect([(await read()).status, (await remove()).status]).toEqual([404, 404])
  })

  it('delete the run endpoint and its secrets', async () => {
    const { put, rotate, read, remove, row } = await withKey()
    await put()
    await rotate()
    const { status, body } = await remove()
    expect([status, body]).toEqual([200, { deleted: true }])
    expect([(await read()).status, (await remove()).status]).toEqual([404, 404])
    expect(await row()).toBeUndefined()
  })

  it('never select a secret', async () => {
    const { key, put } = await withKey()
    await put()
    for (const method of ['GET', 'DELETE']) {
      const use = watchedDatabase()
      await request(method, PATH, { key, environment: { DB: use.DB } })
      for (const { sql } of use.statements) {
        expect(sql.replace(/ where .*/is, '')).not.toMatch(/sealedSecret/i)
      }
    }
  })

  it('are limited to the own organization: another one sees and changes nothing', async () => {
    const { put, row } = await withKey()
    await put()
    const before = await row()
    const elsewhere = await withKey()
    expect((await elsewhere.read()).status).toBe(404)
    expect((await elsewhere.remove()).status).toBe(404)
    expect((await elsewhere.rotate()).status).toBe(404)
    expect((await elsewhere.put('https://hooks.example.com/others')).body.secret).toMatch(SECRET)
    await elsewhere.remove()
    expect(await row()).toEqual(before)
  })
})

describe('rotateRunEndpoint', () => {
  it('returns 404 without a run endpoint, and creates none', async () => {
    const { rotate, row } = await withKey()
    for (const overlapSeconds of [0, 60]) expect((await rotate({ overlapSeconds })).status).toBe(404)
    expect(await row()).toBeUndefined()
  })

  it.each([
    [undefined, DAY_SECONDS],
    [{}, DAY_SECONDS],
    [{ overlapSeconds: 1 }, 1],
    [{ overlapSeconds: 30 * DAY_SECONDS }, 30 * DAY_SECONDS],
  ])('returns a new secret once; the previous one stays valid for the overlap: %j', async (json, seconds) => {
    const { workspace, put, rotate, read } = await withKey()
    const first = (await put()).body
    const now = Date.now() + 5000
    vi.useFakeTimers({ toFake: ['Date'], now })
    const { status, body } = await rotate(json)
    const expiry = now + seconds * 1000
    expect([status, body]).toEqual([
      200,
      {
        ...first,
        updatedAt: new Date(now).toISOString(),
        previousSecretExpiresAt: new Date(expiry).toISOString(),
        secret: expect.stringMatching(SECRET),
      },
    ])
    const { secret, ...rest } = body
    const secrets = [first.secret, secret]
    expect(new Set(secrets).size).toBe(2)
    vi.setSystemTime(expiry - 1)
    expect((await read()).body).toEqual(rest)
    expect(await signingSecrets(workspace, secrets)).toEqual(secrets)
    vi.setSystemTime(expiry)
    expect((await read()).body).toMatchObject({ previousSecretExpiresAt: null })
    expect(await signingSecrets(workspace, secrets)).toEqual([secret])
  })

  it('is refused while the previous secret is still valid, and succeeds once it expires', async () => {
    const { workspace, put, rotate, row } = await withKey()
    const first = (await put()).body.secret
    const second = (await rotate({ overlapSeconds: 60 })).body
    const before = await row()
    const expiry = Date.parse(second.previousSecretExpiresAt)
    const refused = await rotate({ overlapSeconds: 60 })
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('overlapSeconds 0')])
    expect(await row()).toEqual(before)
    vi.useFakeTimers({ toFake: ['Date'], now: expiry - 1 })
    expect((await rotate({ overlapSeconds: 60 })).status).toBe(409)
    vi.setSystemTime(expiry)
    const third = await rotate({ overlapSeconds: 60 })
    expect(third.status).toBe(200)
    const secrets = [first, second.secret, third.body.secret]
    expect(await signingSecrets(workspace, secrets)).toEqual(secrets.slice(1))
  })

  it('ends the previous secret immediately with overlapSeconds 0, and an older one too', async () => {
    const { workspace, put, rotate, row } = await withKey()
    const first = (await put()).body.secret
    const second = (await rotate({ overlapSeconds: 0 })).body
    expect(second.previousSecretExpiresAt).toBeNull()
    expect(await signingSecrets(workspace, [first, second.secret])).toEqual([second.secret])
    const third = (await rotate()).body
    const fourth = (await rotate({ overlapSeconds: 0 })).body
    expect(fourth.previousSecretExpiresAt).toBeNull()
    const secrets = [first, second.secret, third.secret, fourth.secret]
    expect(await signingSecrets(workspace, secrets)).toEqual([fourth.secret])
    expect(await row()).toMatchObject({ previousSealedSecret: null, previousExpiresAt: null })
  })

  it.each([-1, 0.5, '60', null, 30 * DAY_SECONDS + 1, 1e300])('refuses overlapSeconds %j', async (overlapSeconds) => {
    const { put, rotate, row } = await withKey()
    await put()
    const before = await row()
    const { status, body } = await rotate({ overlapSeconds })
    expect(status).toBe(400)
    expect(body.error).toMatch(/^overlapSeconds /)
    expect(await row()).toEqual(before)
  })

  it('succeeds once for concurrent requests', async () => {
    const { workspace, put, rotate } = await withKey()
    const first = (await put()).body.secret
    const answers = await Promise.all(Array.from({ length: 6 }, () => rotate()))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    const second = answers.find(({ status }) => status === 200)?.body.secret
    expect(await signingSecrets(workspace, [first, second])).toEqual([first, second])
  })
})

describe('a secret', () => {
  it('is sealed: no table and no log contains it', async () => {
    const logged: unknown[][] = []
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation((...values) => logged.push(values))
    }
    const { put, rotate, row } = await withKey()
    const secrets = [(await put()).body.secret, (await rotate()).body.secret]
    const text = JSON.stringify([await dumpStores(), logged])
    for (const secret of secrets) {
      const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64')
      for (const form of [secret, secret.slice(6), bytes.toString('base64url'), bytes.toString('hex')]) {
        expect(text).not.toContain(form)
      }
    }
    const { sealedSecret, previousSealedSecret } = (await row()) ?? {}
    expect([sealedSecret, previousSealedSecret]).toEqual([
      expect.stringMatching(/^v1\.test\./),
      expect.stringMatching(/^v1\.test\./),
    ])
  })

  it('opens only for its organization and its purpose', async () => {
    const { workspace, put, row } = await withKey()
    const { organizationId } = workspace
    const { secret } = (await put()).body
    const sealed = String((await row())?.sealedSecret)
    const ring = parseKeyRing(String(env.ENCRYPTION_KEYS))
    const context = runEndpointContext(organizationId)
    expect(await open(sealed, context, ring)).toBe(secret)
    const { organizationId: other } = await Workspace.create()
    for (const wrong of [
      { ...context, organizationId: other },
      { ...context, purpose: 'environment-variable' as const },
      { ...context, projectId: 'website' },
      { ...context, name: 'other' },
    ]) {
      await expect(open(sealed, wrong, ring)).rejects.toThrow()
    }
  })

  it('does not sign for another organization that its row is copied to', async () => {
    const { workspace, put } = await withKey()
    const own = (await put()).body.secret
    const elsewhere = await withKey()
    const theirs = (await elsewhere.put()).body.secret
    await env.DB.prepare('UPDATE "runEndpoints" SET "sealedSecret" = ? WHERE "organizationId" = ?')
      .bind((await elsewhere.row())?.sealedSecret, workspace.organizationId)
      .run()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await signingSecrets(workspace, [own, theirs])).toEqual([])
    expect((await workspace.dump('runs'))[0]?.lastError).toBe(
      'The secret of the run endpoint cannot be decrypted. Rotate it.',
    )
  })
})
