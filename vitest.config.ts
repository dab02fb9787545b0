import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { putViewer } from './scripts/docs-page.ts'
import { receiverService } from './test/support/receiver-service.ts'

const migrations = await readD1Migrations('migrations')
await putViewer()

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              outboundService: receiverService,
              bindings: {
                MIGRATIONS: migrations,
                RATE_LIMIT: 'off',
                REQUEST_LOG: 'off',
                VERIFY_LONG: process.env.VERIFY_LONG ?? '',
                ENCRYPTION_KEYS: 'test:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
              },
            },
          }),
        ],
        test: {
          name: 'workerd',
          include: ['test/**/*.test.ts'],
          exclude: ['test/scripts/**', 'test/browser/**'],
          setupFiles: ['test/support/setup.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'node',
          include: ['test/scripts/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      // `npm run test:browser`: it needs a Chromium.
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
