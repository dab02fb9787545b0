/** The console and its API, as `npm run dev` runs them. */
import { rmSync } from 'node:fs'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../test/support/dev-server.ts'

export interface Console {
  readonly url: string
  readonly demo: ReturnType<typeof readDemo>
  readonly state: string
  /** All that `npm run dev` has printed so far. */
  printed(): string
  stop(): Promise<void>
}

/** @param flags of `npm run dev`. */
export async function startConsole(...flags: readonly string[]): Promise<Console> {
  const state = newFolder()
  const port = await freePort()
  const server: DevServer = await startDevServer(state, await freePort(), '--console-port', String(port), ...flags)
  const stop = async () => {
    await stopDevServer(server)
    rmSync(state, { recursive: true })
  }
  return { url: `http://localhost:${port}`, demo: readDemo(state), state, printed: () => server.printed, stop }
}
