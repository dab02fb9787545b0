/** `workspace completion`: commands, options and files, completed in a shell. */
import completions, { ShellCompDirective } from '@bomb.sh/tab'
import tab from '@bomb.sh/tab/commander'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { Command } from 'commander'

/** Adds the command. Its script calls the hidden command `workspace complete`. */
export function addCompletion(program: CommandUnknownOpts): void {
  // The two packages declare the same class of commander, with other types of its options.
  if (program instanceof Command) tab(program, { completionCommandName: 'completion' })
  const command = program.commands.find((each) => each.name() === 'completion')
  const description = 'Prints a script that completes commands, options and files in a shell.'
  command?.description(description).configureHelp({ commandDescription: () => description })
  command?.addHelpText(
    'after',
    `
Examples:
  source <(workspace completion bash)                                        # in ~/.bashrc
  source <(workspace completion zsh)                                         # in ~/.zshrc, after compinit
  workspace completion fish > ~/.config/fish/completions/workspace.fish`,
  )
  // The library suppresses files everywhere, and has no option for that. They are completed where there is nothing
  // else.
  const suggest = Reflect.get(completions, 'complete')
  Reflect.set(completions, 'complete', (word: string) => {
    if (completions.completions.length > 0) suggest.call(completions, word)
    else console.log(`:${ShellCompDirective.ShellCompDirectiveDefault}`)
  })
  // Its variables are the same in the scripts of other commands, and a shell may read a script twice.
  command?.hook('preAction', () => {
    const { log } = console
    console.log = (script: string) => log(script.replaceAll(/^readonly /gm, ''))
  })
  command?.hook('postAction', ({ args: [shell] }) => {
    if (shell === 'bash') console.log('complete -o default -F __workspace_complete workspace')
  })
}
