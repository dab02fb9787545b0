/** A registry of npm packages on this machine: Verdaccio, in front of the registry that npm is configured for. */
import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './commands.ts'
import { freePort, newFolder } from './dev-server.ts'
import { installWith, run } from './packages.ts'

/** In no lock: it has 300 packages, which only one test needs. */
const VERDACCIO = 'verdaccio@6.10.4'
/** It depends on a tag of node-fetch, which registry mirrors may lack. */
const OVERRIDES = { 'node-fetch': '2.7.0' }

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

/** @param scope whose packages are only here; all others come from the configured registry. */
export async function startRegistry(scope: string): Promise<Registry> {
  const folder = newFolder()
  const app = await installWith({ overrides: OVERRIDES }, join(folder, 'app'), VERDACCIO)
  const uplink = (await run('npm', ['config', 'get', 'registry'], ROOT)).trim()
  const url = `http://127.0.0.1:${await freePort()}`
  const everyone = { access: '$all', publish: '$all' }
  const configuration = {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { configured: { url: uplink, timeout: '60s', cache: false } },
    packages: { [`${scope}/*`]: everyone, '**': { access: '$all', proxy: 'configured' } },
    max_body_size: '100mb',
    log: { type: 'stdout', format: 'pretty', level: 'warn' },
  }
  // YAML has JSON in it.
  const file = join(folder, 'config.yaml')
  writeFileSync(file, JSON.stringify(configuration))
  const command = join(app, 'node_modules', 'verdaccio', 'bin', 'verdaccio')
  const server = spawn(process.execPath, [command, '--config', file, '--listen', url.slice('http://'.length)], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
  }
  const ended = new Promise((resolve) => server.on('close', resolve))
  const isUp = () =>
    fetch(`${url}/-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isUp())) {
    if (server.exitCode !== null) throw new Error(printed)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    url,
    close: async () => {
      server.kill()
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}
