/** The service over HTTP, for tests on Node that need neither `npm run dev` nor its state folder. */
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import type { Environment } from '../../src/environment.ts'
import { ROOT } from './commands.ts'
import { addOrganization } from './organization.ts'

/** A statement that changes rows. */
export interface Write {
  readonly sql: string
  readonly parameters?: readonly unknown[]
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address at which shared-service.ts answers. */
    sharedService: string
  }
}

export interface RunningService {
  readonly url: string
  /** Runs statements in one batch, beside the service. */
  write(writes: readonly Write[]): Promise<void>
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

export type SharedService = Omit<RunningService, 'close'>

/** The service that the test files share, for those that need no settings and no database of their own. */
export async function sharedService(): Promise<SharedService> {
  const ask = async <Answer>(path: string, body: unknown = null) => {
    const response = await fetch(inject('sharedService') + path, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as Answer
  }
  const { url } = await ask<{ url: string }>('/url')
  return { url, addOrganization: () => ask('/organization'), write: (writes) => ask('/write', writes) }
}

/**
 * @param vars in the place of those of the configuration.
 * @param root the folder of the configuration of the API (`api`) and of those of the other Workers.
 */
export async function startService(
  vars: Readonly<Record<string, string>> = {},
  { root, api, others }: Readonly<typeof WORKERS> = WORKERS,
): Promise<RunningService> {
  // Loaded on first use: it takes most of a second.
  const { createTestHarness } = await import('wrangler')
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
    write: async (writes) => {
      await DB.batch(writes.map(({ sql, parameters = [] }) => DB.prepare(sql).bind(...parameters)))
    },
    addOrganization: () => addOrganization(DB),
    close: () => workers.close(),
  }
}
