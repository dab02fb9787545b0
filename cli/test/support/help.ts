/** The commands of `workspace`, as its help lists them. */
import { runWorkspace } from '../../../test/support/commands.ts'

interface Described {
  readonly command: readonly string[]
  readonly help: string
  readonly hasCommands: boolean
}

/** This command and those below it. @throws if one of them has no help. */
export async function describedCommands(command: readonly string[] = []): Promise<Described[]> {
  const { status, stdout: help, stderr } = await runWorkspace([...command, '--help'], { url: '', apiKey: '' })
  if (status !== 0 || stderr !== '') throw new Error(`workspace ${command.join(' ')} --help: ${status} ${stderr}`)
  const [, listed = ''] = /\nCommands:\n(.*?)\n\n/s.exec(help) ?? []
  const names = Array.from(listed.matchAll(/^ {2}(\S+)/gm), ([, name = '']) => name)
  const below = await Promise.all(names.map((name) => describedCommands([...command, name])))
  return [{ command, help, hasCommands: names.length > 0 }, ...below.flat()]
}
