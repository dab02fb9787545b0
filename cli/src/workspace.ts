#!/usr/bin/env node
/** The command `workspace`. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { parsed } from '../../command-line/src/index.ts'
import manifest from '../package.json' with { type: 'json' }
import { group } from './command.ts'
import { addCompletion } from './completion.ts'
import { selectProfile } from './configuration.ts'
import { deletions } from './deletions.ts'
import { env } from './env.ts'
import { events } from './events.ts'
import { files } from './files.ts'
import { keys } from './keys.ts'
import { login, logout, profiles, whoami } from './login.ts'
import { surviveClosedOutput } from './output.ts'
import { people } from './people.ts'
import { pins } from './pins.ts'
import { useProxies } from './proxy.ts'
import { resources } from './resources.ts'
import { runEndpoint } from './run-endpoint.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { skills } from './skills.ts'

const program = group(
  'workspace',
  'Works with a Workspace API: skills, environment variables, schedules and their runs, projects, agents, sessions and their files, pins, users, API keys, people who sign in, and events.',
  ['login', 'skills push path/to/skills', 'env run --project website -- npm start'],
  [
    login,
    logout,
    profiles,
    whoami,
    skills,
    env,
    schedules,
    runs,
    runEndpoint,
    files,
    pins,
    ...resources,
    deletions,
    keys,
    people,
    events,
  ],
)
  .version(manifest.version, '-V, --version', 'show the version')
  .hook('preAction', (_, command) => selectProfile((command.optsWithGlobals() as { profile?: string }).profile))
  .hook('preAction', useProxies)

addProfile(program)
addCompletion(program)
surviveClosedOutput()
parsed(program)

/** Adds the option to each command that does something, after its own options. */
function addProfile(command: CommandUnknownOpts): void {
  for (const subcommand of command.commands) addProfile(subcommand)
  const isOnlyGroup = command.commands.length > 0 && command !== events
  if (!isOnlyGroup) command.option('--profile <name>', 'use the login of this name; default: WORKSPACE_PROFILE')
}
