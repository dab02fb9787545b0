/**
 * Loaded into wrangler before its own code (`node --import`): its Workers have no inspector, unless a flag asks for one.
 * workerd's own, on a random port, serves pages of every origin and gives them the secrets of the Workers, and no flag
 * turns it off.
 */
import './wrangler-environment.ts'
import { createRequire } from 'node:module'
import type { MiniflareOptions } from 'miniflare'

/** The file with wrangler's code. `bin/wrangler.js`, which this is preloaded into as well, only starts it. */
const isWrangler = process.argv[1]?.endsWith('cli.js') === true
const hasFlag = process.argv.some((arg) => /^--inspector-(?:port|ip)\b/.test(arg))

if (isWrangler && !hasFlag) {
  // With this variable, wrangler starts no inspector of its own before that of workerd.
  process.env.VSCODE_INSPECTOR_OPTIONS = 'off'
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler'))
  const miniflare = require('miniflare') as typeof import('miniflare')
  class WithoutInspector extends miniflare.Miniflare {
    constructor(options: MiniflareOptions) {
      super({ ...options, inspectorPort: undefined })
    }

    override setOptions(options: MiniflareOptions): Promise<void> {
      return super.setOptions({ ...options, inspectorPort: undefined })
    }

    /** Nothing connects to it. */
    override async getInspectorURL(): Promise<URL> {
      return new URL('ws://127.0.0.1')
    }
  }
  const module = require.cache[require.resolve('miniflare')]
  if (module) module.exports = { ...miniflare, Miniflare: WithoutInspector }
}
