/** The licences of the packages in a bundle, which have to be passed on with it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Files with the text of a licence, for packages that have only its name. That of MIT names a copyright holder. */
const STANDARD_TEXTS: Readonly<Record<string, string>> = {
  MIT: 'LICENSE',
  'Apache-2.0': 'node_modules/typescript/LICENSE',
}

/**
 * @param file the bundle, as its package names it.
 * @param packages the folders of the packages in it, relative to the repository.
 */
export function noticesOf(file: string, packages: readonly string[]): string {
  return `${file} contains code of these packages.\n${packages.map(noticeOf).join('')}`
}

function noticeOf(path: string): string {
  const folder = join(ROOT, path)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { name, version, license, author } = manifest
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (texts.length === 0) {
    const standard = STANDARD_TEXTS[license]
    if (standard === undefined) throw new Error(`${name} has no file with its licence.`)
    const holder = typeof author === 'object' ? author.name : author
    const text = readFileSync(join(ROOT, standard), 'utf8').trim()
    texts.push(text.replace(/^Copyright \(c\) .*$/m, `Copyright (c) ${holder}`))
  }
  return `\n${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`
}
