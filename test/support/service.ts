/** The service over HTTP, for tests on Node that need neither `npm run dev` nor its state folder. */
import { randomBytes } from 'node:crypto'
import { createTestHarness } from 'wrangler'
import type { Environment } from '../../src/environment.ts'
import { ROOT } from './commands.ts'
import { addOrganization } from './organization.ts'

export interface RunningService {
  readonly url: string
  readonly database: D1Database
  /** Makes an organization. @returns its id, and a key with every scope. */
  addOrganization(): Promise<{ id: string; apiKey: string }>
  close(): Promise<void>
}

/** The service has a binding to the console Worker. */
export const CONSOLE_STAND_IN = {
  config: {
    name: 'workspace-api-console',
    main: 'test/support/console-stand-in.ts',
    compatibility_date: '2026-11-17',
  },
}

/** The Workers of this repository. */
const WORKERS = {
  root: ROOT,
  api: 'wrangler.toml',
  others: [{ configPath: 'mcp/wrangler.toml' }, CONSOLE_STAND_IN],
}

/**
 * @param vars in the place of those of the configuration.
 * @param root the folder of the configuration of the API (`api`) and of those of the other Workers.
 */
export async function startService(
  vars: Readonly<Record<string, string>> = {},
  { root, api, others }: Readonly<typeof WORKERS> = WORKERS,
): Promise<RunningService> {
  const workers = createTestHarness({
    root,
    workers: [
      {
        configPath: api,
        vars: { RATE_LIMIT: 'off', REQUEST_LOG: 'off', ...vars },
        secrets: { ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` },
      },
      ...others,
    ],
  })
  const service = workers.getWorker<Environment & { DB: D1Database }>('workspace-api')
  const { url } = await workers.listen()
  await service.applyD1Migrations('DB')
  const { DB } = await service.getEnv()
  return {
    url: url.origin,
    database: DB,
    addOrganization: () => addOrganization(DB),
    close: () => workers.close(),
  }
}
