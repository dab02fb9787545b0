#!/usr/bin/env node
/** The command `workspace`. */
import { parsed } from '../../command-line/src/index.ts'
import manifest from '../package.json' with { type: 'json' }
import { group } from './command.ts'
import { addCompletion } from './completion.ts'
import { env } from './env.ts'
import { events } from './events.ts'
import { files } from './files.ts'
import { keys } from './keys.ts'
import { login, logout, whoami } from './login.ts'
import { surviveClosedOutput } from './output.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { skills } from './skills.ts'

const program = group(
  'workspace',
  'Works with a Workspace API: skills, environment variables, schedules and their runs, files of sessions, API keys and events.',
  ['login', 'skills push path/to/skills', 'env run --project website -- npm start'],
  [login, logout, whoami, skills, env, schedules, runs, files, keys, events],
).version(manifest.version, '-V, --version', 'show the version')

addCompletion(program)
surviveClosedOutput()
parsed(program)
