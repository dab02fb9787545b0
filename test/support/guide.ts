/** The commands of the documentation, as its reader runs them. */
import { type ExecFileOptions, execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { ROOT } from './commands.ts'
import { curlCallsOf, runCurl } from './curl.ts'

/** A command, and what it prints, where `…` stands for any text. */
export interface GuideCommand {
  readonly command: string
  readonly output: string
}

/** The code blocks of a language, without their indentation. */
export function blocksOf(guide: string, language: string): string[] {
  return Array.from(
    guide.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm')),
    ([, indent = '', code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

/** The commands of a block for the console. The further lines of a command are indented; what it prints is not. */
export function commandsIn(block: string): GuideCommand[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const lines = text.split('\n').filter((line) => line !== '')
      const end = lines.findIndex((line, index) => index > 0 && !line.startsWith(' '))
      return end < 0
        ? { command: lines.join('\n'), output: '' }
        : { command: lines.slice(0, end).join('\n'), output: lines.slice(end).join('\n') }
    })
}

/** Runs a command in a shell. @returns what it prints, which is as documented. */
export async function runGuideCommand(
  { command, output }: GuideCommand,
  variables: Readonly<Record<string, string>>,
  cwd = ROOT,
): Promise<string> {
  const env = { ...process.env, ...variables }
  const printed = command.startsWith('curl ')
    ? await responseOf(command, env)
    : // Some commands print a secret to standard output, and the rest to standard error.
      await outputOf(command, { env, cwd })
  expect([command, printed.trimEnd()]).toEqual([command, expect.stringMatching(patternOf(output))])
  return printed
}

async function outputOf(command: string, options: ExecFileOptions): Promise<string> {
  const running = promisify(execFile)('sh', ['-euc', `exec 2>&1\n${command}`], { ...options, encoding: 'utf8' })
  running.child.stdin?.end()
  return (await running).stdout
}

async function responseOf(command: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [call = []] = curlCallsOf(command, env)
  return (await runCurl(call)).text()
}

function patternOf(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*')}$`)
}
