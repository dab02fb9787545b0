import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { problemOfReceiver } from '../../src/webhooks/receiver-url.ts'

const NO_URL = 'is not a URL'
const NOT_HTTPS = 'does not begin with https://'
const CREDENTIALS = 'has a user name or password'
const FRAGMENT = 'has a fragment ("#…")'
const IP_ADDRESS = 'has an IP address instead of a host name'
const NOT_PUBLIC = 'has a host that is not public'

const wrongWith = (url: string, allowsLocal: boolean) => problemOfReceiver(url, allowsLocal)?.wrong

const byte = fc.integer({ min: 0, max: 255 })
const written = fc.constantFrom(
  (part: number) => String(part),
  (part: number) => `0x${part.toString(16)}`,
  (part: number) => `0X${part.toString(16).padStart(8, '0').toUpperCase()}`,
  (part: number) => `0${part.toString(8)}`,
)

/** An IPv4 address in each of its forms: one to four parts, each decimal, octal or hexadecimal. */
const ipv4 = fc
  .tuple(byte, byte, byte, byte, fc.integer({ min: 1, max: 4 }), fc.array(written, { minLength: 4 }))
  .map(([a, b, c, d, count, write]) => {
    const parts = [a, b, c, d]
    const tail = parts.slice(count - 1).reduce((sum, part) => sum * 256 + part, 0)
    return [...parts.slice(0, count - 1), tail].map((part, index) => write[index]?.(part)).join('.')
  })

describe('problemOfReceiver', () => {
  it.each([
    ['', NO_URL],
    ['hooks.example.com/runs', NO_URL],
    ['/runs', NO_URL],
    ['https://', NO_URL],
    ['https://hooks.example.com:65536/', NO_URL],
    ['https://a b.example.com/', NO_URL],
    ['https://256.1.1.1/', NO_URL],
    ['http://hooks.example.com/', NOT_HTTPS],
    ['ftp://hooks.example.com/', NOT_HTTPS],
    ['wss://hooks.example.com/', NOT_HTTPS],
    ['data:text/plain,x', NOT_HTTPS],
    ['javascript:alert(1)', NOT_HTTPS],
    ['blob:https://hooks.example.com/x', NOT_HTTPS],
    ['https://ada@hooks.example.com/', CREDENTIALS],
    ['https://ada:secret@hooks.example.com/', CREDENTIALS],
    ['https://:secret@hooks.example.com/', CREDENTIALS],
    ['https://hooks.example.com/#runs', FRAGMENT],
    ['https://8.8.8.8/', IP_ADDRESS],
    ['https://[2606:4700::1111]/', IP_ADDRESS],
    ['https://localhost/', NOT_PUBLIC],
    ['https://intranet/', NOT_PUBLIC],
    ['https://printer.local/', NOT_PUBLIC],
    ['https://hooks.example.com:0/', 'has the port 0'],
    ['https://hooks.example.com:22/', 'has a port below 1024 other than 443'],
    ['https://hooks.example.com:1023/', 'has a port below 1024 other than 443'],
  ])('returns for %j: %s', (url, problem) => {
    expect(wrongWith(url, false)).toBe(problem)
  })

  it('says which URLs are allowed', () => {
    expect(problemOfReceiver('', false)?.allowed).toMatch(/^an https URL of a public host, such as /)
    expect(problemOfReceiver('', true)?.allowed).toMatch(
      /^an https URL of a public host or a URL of localhost, such as /,
    )
  })

  it('refuses every IPv4 address in any notation', () => {
    fc.assert(
      fc.property(ipv4, fc.constantFrom('', '.'), (address, end) => {
        expect(wrongWith(`https://${address}${end}/`, false)).toBe(IP_ADDRESS)
      }),
    )
  })

  it('refuses every IPv6 address', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(wrongWith(`https://[${address}]/`, false)).toBe(IP_ADDRESS)
      }),
    )
  })

  it.each(
    [
      ...['localhost', 'local', 'internal', 'invalid', 'test', 'example', 'onion', 'alt', 'home.arpa'],
      ...['lan', 'corp', 'home', 'svc'],
    ].flatMap((name) => [name, `a.${name}`, `a.b.${name}.`, name.toUpperCase()]),
  )('refuses the name %s, which the public DNS does not have', (host) => {
    expect(wrongWith(`https://${host}/`, false)).toBe(NOT_PUBLIC)
  })

  it.each([
    'hooks.example.com:443',
    'hooks.example.com:8443',
    'notlocal.com',
    'localhost.com',
    'local.example.com',
    'mylocalhost.de',
    'test.de',
    'a.arpa',
  ])('allows %s, which only looks like one', (host) => {
    expect(problemOfReceiver(`https://${host}/`, false)).toBeUndefined()
  })

  const local = [
    'http://localhost:8080/runs',
    'http://localhost:22/runs',
    'https://localhost/runs',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://a.localhost:1/',
    'http://127.0.0.1:8080/',
    'http://127.255.255.254/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]:8080/',
    'http://[0:0:0:0:0:0:0:1]/',
  ]

  it.each(local)('allows this machine only if local URLs are allowed: %s', (url) => {
    expect(problemOfReceiver(url, true)).toBeUndefined()
    expect(problemOfReceiver(url, false)).toBeDefined()
  })

  it.each([
    ['http://hooks.example.com/', NOT_HTTPS],
    ['http://localhost.example.com/', NOT_HTTPS],
    ['http://127.0.0.1.example.com/', NOT_HTTPS],
    ['http://192.168.0.1/', NOT_HTTPS],
    ['ws://localhost/', NOT_HTTPS],
    ['https://192.168.0.1/', IP_ADDRESS],
    ['https://10.0.0.1/', IP_ADDRESS],
    ['https://128.0.0.1/', IP_ADDRESS],
    ['https://0.0.0.0/', IP_ADDRESS],
    ['https://[::]/', IP_ADDRESS],
    ['https://[::2]/', IP_ADDRESS],
    ['https://[::ffff:127.0.0.1]/', IP_ADDRESS],
    ['https://[fe80::1]/', IP_ADDRESS],
    ['https://intranet/', NOT_PUBLIC],
    ['http://ada:secret@localhost/', CREDENTIALS],
    ['http://localhost/#runs', FRAGMENT],
    ['http://localhost:0/', 'has the port 0'],
  ])('allows no other URL even then: %s', (url, problem) => {
    expect(wrongWith(url, true)).toBe(problem)
  })
})

describe('this machine', () => {
  const isAllowed = (host: string) => problemOfReceiver(`http://${host}/`, true) === undefined

  it.each(['localhost', 'a.localhost', 'a.b.localhost', '127.0.0.1', '127.1.2.3', '[::1]'])('is %s', (host) => {
    expect(isAllowed(host)).toBe(true)
  })

  it.each([
    '',
    'localhost.com',
    'mylocalhost',
    'xlocalhost',
    '.localhost.com',
    '128.0.0.1',
    '27.0.0.1',
    '1127.0.0.1',
    '127.0.0.1.com',
    '0.0.0.0',
    '[::2]',
    '[::]',
    '::1',
    'workspace.example',
  ])('is not %j', (host) => {
    expect(isAllowed(host)).toBe(false)
  })
})
