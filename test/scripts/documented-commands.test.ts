/**
 * The commands in the pages for a first deployment exist, with their options.
 * @module-tag slow
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ROOT, runScript, runWorkspace } from '../support/commands.ts'

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const WRANGLER = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
const NOBODY = { url: 'http://localhost:9', apiKey: '' }

/** The commands in code: whole lines of blocks, and spans. */
function commandsIn(file: string): string[] {
  const text = readFileSync(join(ROOT, 'docs', file), 'utf8')
  const code = [
    ...Array.from(text.matchAll(/^ *```(?:sh|console)\n([\s\S]*?)^ *```/gm), ([, block = '']) =>
      block.split('\n'),
    ).flat(),
    ...Array.from(text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`]+)`/g), ([, span = '']) => span),
  ]
  const commands = code.flatMap(
    (line) => /(?:^|\| |&& |\$ )((?:npm run|workspace) .+)$/.exec(line.replace(/ #.*$/, ''))?.[1] ?? [],
  )
  return [...new Set(commands.map((each) => each.trim()))]
}

/** @returns the help of the command, which has its options. */
async function helpOf(command: string): Promise<string> {
  const args =
    command
      .replaceAll(/<[^>]+>/g, 'x')
      .match(/'[^']*'|"[^"]*"|\S+/g)
      ?.slice(1) ?? []
  if (command.startsWith('workspace ')) {
    const { status, printed } = await runWorkspace([...args, '--help'], NOBODY)
    expect([command, status]).toEqual([command, 0])
    return printed
  }
  const [, script = '', , ...rest] = args
  expect(scripts).toHaveProperty(script)
  if (script === 'wrangler') {
    const { stdout } = await promisify(execFile)(process.execPath, [WRANGLER, ...rest, '--help'], { cwd: ROOT })
    return stdout
  }
  const { status, printed } = await runScript(script, [...rest, '--help'])
  expect([command, status, printed.startsWith(`Usage: npm run ${script}`)]).toEqual([command, 0, true])
  return printed
}

describe.each(['first-deployment.md', 'deploy.md'])('docs/%s', (file) => {
  const commands = commandsIn(file)

  it('has commands', () => {
    expect(commands.length).toBeGreaterThan(20)
  })

  it.each(commands)('%s', async (command) => {
    const help = await helpOf(command)
    const options = Array.from(command.matchAll(/ (--[a-z][a-z-]+)/g), ([, option]) => option)
    for (const option of options) expect(help).toContain(option)
  })
})
