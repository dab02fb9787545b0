/** Bundles the command to dist/, and writes the licences of the packages in the bundle, which have to be passed on. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleCommand } from './bundle.ts'

const ROOT = join(import.meta.dirname, '..')
const { code, packages } = await bundleCommand()
mkdirSync(join(import.meta.dirname, 'dist'), { recursive: true })
writeFileSync(join(import.meta.dirname, 'dist', 'workspace.cjs'), code)
writeFileSync(
  join(import.meta.dirname, 'THIRD-PARTY-NOTICES.txt'),
  `dist/workspace.cjs contains these packages.\n${packages.map(noticeOf).join('')}`,
)

/** @param path of the package, relative to the repository. */
function noticeOf(path: string): string {
  const folder = join(ROOT, path)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { name, version, license, author } = manifest
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (texts.length === 0) {
    // The licence of this repository has the same text, but for the copyright.
    if (license !== 'MIT') throw new Error(`${name} has no file with its licence.`)
    const text = readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim()
    texts.push(text.replace(/^Copyright .*$/m, `Copyright (c) ${author}`))
  }
  return `\n${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`
}
