import './tools/wrangler-environment.ts'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { writePages } from './scripts/generate/pages.ts'
import { receiverService } from './test/support/receiver-service.ts'

// Wrangler says on each start where it found secrets.
process.env.WRANGLER_LOG ??= 'warn'
// It would ask the internet for what `request.cf` is here.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

const migrations = await readD1Migrations('migrations')
writePages()

/** The tests of what runs on Node: commands, scripts, and other programs with `npm run dev`. */
const ON_NODE = [
  'test/operate/**/*.test.ts',
  'test/scripts/**/*.test.ts',
  '{cli,command-line}/test/*.test.ts',
  '{client,console,mcp}/test/node/*.test.ts',
  'test/**/node/**/*.test.ts',
]

/** The bindings of the databases beside the first (test/support/env.ts). */
const DATABASES = [1, 2]
  .slice(0, Number(process.env.DATABASES ?? 1) - 1)
  .map((number) => [`DB_${number}`, `tests-${number}`])

/** For the processes of wrangler that tests start. */
const WRANGLER_ENVIRONMENT = {
  WRANGLER_LOG: 'log',
  // A process of wrangler reads 10 MB of code.
  NODE_COMPILE_CACHE: join(tmpdir(), 'workspace-api-compile-cache'),
}

/** So that the tests that run at the same time find it done. */
const BUILD = 'test/support/build-for-tests.ts'

const PROCESSOR_TIME = ['test/support/processor-time.ts']

/** On a busy machine, what a test waits for takes longer than the second that is the default. */
const POLLING = { poll: { timeout: 30_000 } }

export default defineConfig({
  test: {
    // A test often waits for another process, so one more than there are cores.
    maxWorkers: availableParallelism() + 1,
    // What a test prints is shown if it fails: many provoke errors, which the service logs.
    silent: 'passed-only',
    slowTestThreshold: 10_000,
    tags: [{ name: 'slow', description: 'Takes ten seconds or more: `npm run test:slow`, not `npm test`.' }],
    projects: [
      {
        plugins: [
          cloudflareTest({
            // Otherwise workerd prints each exception and each warning of a request that a test makes wrong on purpose.
            verbose: false,
            // Instead of what the build makes of it.
            main: './src/index.ts',
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              outboundService: receiverService,
              d1Databases: { SECOND_DB: 'tests-1', THIRD_DB: 'tests-2', ...Object.fromEntries(DATABASES) },
              // mcp/test/node/mcp.test.ts tests the MCP Worker.
              serviceBindings: {
                MCP: async () => new Response('from the MCP Worker'),
                AUTH: async () => new Response('from the console Worker'),
              },
              // Of the console Worker.
              kvNamespaces: ['OAUTH_KV'],
              bindings: {
                MIGRATIONS: migrations,
                RATE_LIMIT: 'off',
                REQUEST_LOG: 'off',
                DATABASES: DATABASES.length + 1,
                FOLDER: import.meta.dirname,
                LONG: process.env.LONG ?? '',
                SEED: Number(process.env.SEED ?? 20_261_122),
                ENCRYPTION_KEYS: 'test:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
              },
            },
          }),
        ],
        test: {
          name: 'workerd',
          include: ['test/**/*.test.ts', '{client,console,mcp}/test/*.test.ts'],
          exclude: [...ON_NODE, 'test/browser/**'],
          // @cloudflare/vitest-plugin 1.5.0 drops the source maps of cached modules, so failures would name wrong
          // lines.
          fsModuleCache: false,
          // Files share a process of workerd and its stores, which each file finds empty.
          isolate: false,
          setupFiles: ['test/support/setup.ts'],
          testTimeout: 600_000,
          expect: POLLING,
        },
      },
      {
        test: {
          name: 'node',
          globalSetup: [BUILD, 'test/support/shared-service.ts'],
          setupFiles: [...PROCESSOR_TIME, 'test/support/set-up-node.ts'],
          expect: POLLING,
          include: ON_NODE,
          env: WRANGLER_ENVIRONMENT,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      // It needs a Chromium. Its files have the tag `slow`.
      {
        test: {
          name: 'browser',
          globalSetup: BUILD,
          setupFiles: [...PROCESSOR_TIME, 'test/support/set-up-node.ts'],
          expect: POLLING,
          include: ['{client/,console/,}test/browser/*.test.ts'],
          env: WRANGLER_ENVIRONMENT,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
})
