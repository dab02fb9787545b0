/** The code that CONTRIBUTING.md and docs/design.md show is that of `src/`. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/commands.ts'
import { blocksOf } from '../support/guide.ts'

const inOneLine = (code: string) => code.replaceAll(/\s+/g, ' ').trim()
const source = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => inOneLine(readFileSync(join(ROOT, file), 'utf8')))

it.each(['CONTRIBUTING.md', 'docs/design.md'])('is in src/: %s', (page) => {
  const blocks = blocksOf(readFileSync(join(ROOT, page), 'utf8'), 'ts')
  const parts = blocks.flatMap((block) => block.split('\n\n')).map(inOneLine)
  expect(parts.length).toBeGreaterThan(1)
  expect(parts.filter((part) => !source.some((code) => code.includes(part)))).toEqual([])
})
