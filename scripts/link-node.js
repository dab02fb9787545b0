/**
 * Restores the link to the project's own Node, which npm 10 removes together with the builds for other systems. It runs on
 * the Node that npm runs on, so it is plain JavaScript.
 */
import { existsSync, readdirSync, symlinkSync } from 'node:fs'

const modules = new URL('../node_modules/', import.meta.url)
const link = new URL('.bin/node', modules)
if (process.platform !== 'win32' && !existsSync(link)) {
  const builds = readdirSync(modules).filter((name) => name.startsWith('node-'))
  const build = builds.find((name) => existsSync(new URL(`${name}/bin/node`, modules)))
  if (build) symlinkSync(`../${build}/bin/node`, link)
}
