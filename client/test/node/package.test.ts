/** The package, as its users get it: packed, and installed into an empty folder. */
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { build as buildWithVite } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintSecret, signedHeaders } from '../../../src/webhooks/signature.ts'
import { ROOT } from '../../../test/support/commands.ts'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../../test/support/dev-server.ts'
import { newState } from '../../../test/support/local-state.ts'
import { install, pack, run } from '../../../test/support/packages.ts'

const COMPATIBILITY_DATE = '2026-11-17'
/** The program reads several pages. */
const PAGE = 4

/** A program that uses methods of each kind, the low level and each helper. */
const PROGRAM = `
import { openLease, verifyWebhook, Workspace, WorkspaceError } from '@workspace-api/client'

export async function useAll({ url, apiKey, sessionId, webhook, lease, key }: Record<string, any>) {
  const workspace = new Workspace({ url, apiKey, maxRetries: 3 })
  const { organization } = await workspace.me.retrieve()
  const bytes = new Uint8Array([0, 255, 10])
  const uploaded: string[][] = []
  const contents = [bytes, bytes.buffer, new Blob(['abc'], { type: 'image/png' }), new Blob(['abc']).stream()]
  for (const content of contents) {
    const options = { path: 'upload.bin', contentType: content instanceof Blob ? undefined : 'image/png' }
    const { id, contentType, sha256 } = await workspace.sessions.files.put(sessionId, content, options)
    const download = await workspace.sessions.files.content.retrieve(sessionId, id)
    uploaded.push([contentType, sha256, String((await download.arrayBuffer()).byteLength)])
  }
  const paths: string[] = []
  for await (const file of workspace.sessions.files.list(sessionId, { limit: ${PAGE} })) paths.push(file.path)
  const isUnknown = await workspace.skills.retrieve(sessionId).then(
    () => false,
    (error) => error instanceof WorkspaceError && error.code === 'skill_not_found',
  )
  const { data: me } = await workspace.client.GET('/v1/me')
  const { data } = verifyWebhook(webhook.secret, webhook.headers, webhook.body)
  const privateKey = await crypto.subtle.importKey('jwk', key, { name: 'X25519' }, false, ['deriveBits'])
  const variables: Record<string, string> = await openLease(lease, { publicKey: key.x, privateKey })
  const isSame = me?.organization.name === organization.name
  return { isSame, isUnknown, uploaded, files: paths.length, cron: data.cron, variables }
}
`
/** For Node: input and output are JSON. */
const ON_NODE = `
import { useAll } from './program.js'
console.log(JSON.stringify(await useAll(JSON.parse(process.argv[2]))))
`
const IN_WORKER = `
import { useAll } from './program.ts'
export default { fetch: async (request) => Response.json(await useAll(await request.json())) }
`

const folder = newFolder()
const state = newState()
const app = join(folder, 'app')
const inApp = (...path: string[]) => join(app, ...path)
let service: DevServer
let input: string
let output: unknown

beforeAll(async () => {
  const installed = pack('client', folder).then((tarball) => install(app, tarball))
  service = await startDevServer(state, await freePort())
  const { baseUrl, apiKey, sessionId } = readDemo(state)
  const [webhook, sealed] = [await signedWebhook(), await sealedLease()]
  input = JSON.stringify({ url: baseUrl, apiKey, sessionId, webhook, ...sealed })
  const { items } = await listFiles(baseUrl, apiKey, sessionId)
  expect(items.length).toBeGreaterThan(PAGE)
  output = {
    isSame: true,
    isUnknown: true,
    uploaded: ['\u0000\u00ff\n', '\u0000\u00ff\n', 'abc', 'abc'].map((content) => [
      'image/png',
      hash('sha256', Buffer.from(content, 'latin1')),
      '3',
    ]),
    files: items.length + 1,
    cron: '@daily',
    variables: { GREETING: 'hello' },
  }
  await installed
  for (const [file, text] of Object.entries({
    'program.ts': PROGRAM,
    'node.js': ON_NODE,
    'worker.js': IN_WORKER,
  }))
    writeFileSync(inApp(file), text)
})
afterAll(async () => {
  await stopDevServer(service)
  for (const path of [folder, state]) rmSync(path, { recursive: true })
})

async function listFiles(url: string, apiKey: string, sessionId: string): Promise<{ items: unknown[] }> {
  const headers = { Authorization: `Bearer ${apiKey}` }
  return (await fetch(`${url}/v1/sessions/${sessionId}/files?limit=1000`, { headers })).json()
}

async function signedWebhook() {
  const secret = mintSecret()
  const body = JSON.stringify({ type: 'schedule.run', data: { cron: '@daily' } })
  return { secret, body, headers: await signedHeaders('run', new Date(), body, [secret]) }
}

/** A lease, and the key pair that opens it. */
async function sealedLease() {
  const pair = (await crypto.subtle.generateKey('X25519', true, ['deriveBits'])) as CryptoKeyPair
  const kem = new DhkemX25519HkdfSha256()
  const suite = new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes256Gcm() })
  const bytes = (text: string) => new TextEncoder().encode(text)
  const lease = { organizationId: 'acme', projectId: 'website', keys: ['GREETING'] }
  const { enc, ct } = await suite.seal(
    { recipientPublicKey: pair.publicKey, info: bytes('workspace-api environment-variables lease v1') },
    bytes('{"GREETING":"hello"}'),
    bytes('["acme","website","GREETING"]'),
  )
  const base64url = (buffer: ArrayBuffer) => Buffer.from(buffer).toString('base64url')
  const { kty, crv, d, x } = (await crypto.subtle.exportKey('jwk', pair.privateKey)) as JsonWebKey
  return { lease: { ...lease, enc: base64url(enc), ciphertext: base64url(ct) }, key: { kty, crv, d, x } }
}

/** Compiles the program as a user does whose project checks the types of libraries too. */
async function compile(compiler: string, options: object) {
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    target: 'es2022',
    lib: ['es2022'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
    outDir: 'built',
    ...options,
  }
  writeFileSync(inApp('tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  await run(process.execPath, [join(ROOT, compiler, 'typescript', 'bin', 'tsc')], app)
  mkdirSync(inApp('built'), { recursive: true })
  writeFileSync(inApp('built', 'node.js'), ON_NODE)
}

const onNode = async (node: string, file: string) => JSON.parse(await run(node, [inApp(file), input], app))

describe('the packed client', () => {
  it('has what it needs to run, and no sources', () => {
    const installed = inApp('node_modules', '@workspace-api', 'client')
    expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
    const kinds = new Set(readdirSync(join(installed, 'dist')).map((file) => file.replace(/^\w+/, '')))
    expect([...kinds].sort()).toEqual(['.d.ts', '.js'])
    const texts = readdirSync(join(installed, 'dist')).map((file) =>
      readFileSync(join(installed, 'dist', file), 'utf8'),
    )
    expect(texts.filter((text) => text.includes(ROOT))).toEqual([])
  })

  const NODE_NEXT = { module: 'nodenext', types: ['node'] }
  const BROWSER = { module: 'esnext', moduleResolution: 'bundler', types: [], lib: ['es2022', 'dom'] }
  const WORKER = { module: 'esnext', moduleResolution: 'bundler', types: ['../@cloudflare/workers-types'] }

  it.each([
    ['nodenext and the types of Node', NODE_NEXT],
    ['bundler and the types of browsers', BROWSER],
    ['bundler and the types of Workers', WORKER],
  ])('type-checks with %s', async (_, options) => {
    await compile('node_modules', options)
  })

  it.each([
    ['nodenext', NODE_NEXT],
    ['bundler', BROWSER],
  ])('type-checks with %s in TypeScript 5', { tags: 'slow' }, async (_, options) => {
    await compile(join('client', 'node_modules'), options)
  })

  it('runs on Node', async () => {
    await compile('node_modules', NODE_NEXT)
    expect(await onNode(process.execPath, join('built', 'node.js'))).toEqual(output)
  })

  it.each([20, 22])('runs on Node %i', { tags: 'slow' }, async (version) => {
    const installed = await install(join(folder, `node-${version}`), `node@${version}`)
    const node = join(installed, 'node_modules', 'node', 'bin', 'node')
    expect(await run(node, ['--version'], app)).toMatch(new RegExp(`^v${version}\\.`))
    await compile('node_modules', NODE_NEXT)
    expect(await onNode(node, join('built', 'node.js'))).toEqual(output)
  })

  it('runs in a bundle of esbuild', async () => {
    await build({
      entryPoints: [inApp('program.ts')],
      outfile: inApp('esbuild', 'program.js'),
      bundle: true,
      format: 'esm',
    })
    writeFileSync(inApp('esbuild', 'node.js'), ON_NODE)
    expect(await onNode(process.execPath, join('esbuild', 'node.js'))).toEqual(output)
  })

  it('leaves out of a bundle what it does not use', async () => {
    const contents = `export { WorkspaceError } from '@workspace-api/client'`
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: app },
      bundle: true,
      format: 'esm',
      write: false,
    })
    expect(outputFiles[0]?.text.length).toBeLessThan(3000)
  })

  it('runs in a bundle of Vite', async () => {
    await buildWithVite({
      root: app,
      configFile: false,
      logLevel: 'error',
      build: { outDir: 'vite', lib: { entry: 'program.ts', formats: ['es'], fileName: 'program' } },
    })
    writeFileSync(inApp('vite', 'node.js'), ON_NODE)
    expect(await onNode(process.execPath, join('vite', 'node.js'))).toEqual(output)
  })

  it('runs in a Worker', async () => {
    const options = ['--name', 'app', '--compatibility-date', COMPATIBILITY_DATE]
    const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
    await run(process.execPath, [wrangler, 'deploy', 'worker.js', '--dry-run', '--outdir', 'worker', ...options], app)
    const script = readFileSync(inApp('worker', 'worker.js'), 'utf8')
    const worker = new Miniflare(
      convertV4MiniflareOptions({ modules: true, script, compatibilityDate: COMPATIBILITY_DATE }),
    )
    try {
      const response = await worker.dispatchFetch('http://app/', { method: 'POST', body: input })
      expect(await response.json()).toEqual(output)
    } finally {
      await worker.dispose()
    }
  })
})
