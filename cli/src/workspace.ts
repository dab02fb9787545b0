#!/usr/bin/env node
/** The command `workspace`. */
import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { parsed } from '../../scripts/command-line.ts'
import manifest from '../package.json' with { type: 'json' }
import { audit } from './audit.ts'
import { group } from './command.ts'
import { env } from './env.ts'
import { files } from './files.ts'
import { keys } from './keys.ts'
import { login, whoami } from './login.ts'
import { surviveClosedOutput } from './output.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { skills } from './skills.ts'

const program = group(
  'workspace',
  'Works with a Workspace API: skills, environment variables, schedules and their runs, files of sessions, API keys and the audit trail.',
  ['login', 'skills push path/to/skills', 'env run --project website -- npm start'],
  [login, whoami, skills, env, schedules, runs, files, keys, audit],
).version(manifest.version, '-V, --version', 'show the version')

// The script of `workspace completion` calls the hidden command `workspace complete`.
tab(program as unknown as Command, { completionCommandName: 'completion' })
program.commands
  .find((command) => command.name() === 'completion')
  ?.description('Prints a script that completes commands and options in a shell.')
  .addHelpText(
    'after',
    `
Examples:
  source <(workspace completion bash)                                        # in ~/.bashrc
  source <(workspace completion zsh)                                         # in ~/.zshrc, after compinit
  workspace completion fish > ~/.config/fish/completions/workspace.fish`,
  )

surviveClosedOutput()
parsed(program)
