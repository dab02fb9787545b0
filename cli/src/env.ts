/** `workspace env`: the environment variables of a project. */
import { isUtf8 } from 'node:buffer'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { leaseVariables, WorkspaceError } from '../../client/src/index.ts'
import { countOf, startProgress, UsageError } from '../../command-line/src/index.ts'
import { type Ended, start } from './child.ts'
import { describe, group, withJson, withLimit } from './command.ts'
import { readVariables, writeVariables } from './env-file.ts'
import { isLoaderVariable } from './loader-variables.ts'
import { readFile, replaceFile } from './local-files.ts'
import { outcomeLine, print, printList } from './output.ts'
import { readSecret, readStandardInput } from './prompt.ts'
import { KINDS, resolve } from './resolve.ts'
import { CREATED, connect, pageSize } from './service.ts'
import { time } from './times.ts'

const PROJECT = ['--project <project>', 'the ID or the name of the project'] as const
const ONLY = ['--only <names>', 'only these variables, separated by commas', (text: string) => text.split(',')] as const
const UNRESTRICTED = 'This needs an API key that is restricted to projects. To create one:'
const CREATE_KEY = 'workspace keys create sandbox --scope environment-variables:lease --project'
/** The exit codes of shells for a command that was not found, or that cannot be executed. */
const [NOT_FOUND, NOT_EXECUTABLE] = [127, 126]
/** A terminal sends these to each process of the foreground by itself. */
const OF_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']
/** They do not end a Node process. */
const HANDLED_BY_NODE: readonly NodeJS.Signals[] = ['SIGPIPE', 'SIGXFSZ', 'SIGUSR1']
/** How long a signal to this process may take, and the exit code after that. */
const [SIGNAL_MS, FROM_SIGNAL] = [1000, 128]
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']

const push = withJson(
  describe(
    'push',
    "Stores the variables of a .env file in a project. The project's other variables do not change. Prints names, never values. The API key needs the scope environment-variables:write.",
    ['env push .env --project website', 'decrypt secrets.env.age | workspace env push - --project website'],
  )
    .argument('<file>', 'a .env file; - reads standard input')
    .requiredOption(...PROJECT)
    .option('--skip-invalid', 'leave out variables that the service would refuse, and print their lines'),
).action(async (file, { project, skipInvalid, ...output }) => {
  const isInput = file === '-'
  const bytes = isInput ? await readStandardInput() : readFile(file)
  const chunks = readVariables(isInput ? 'Standard input' : file, bytes, skipInvalid)
  const { length } = chunks.flat()
  const workspace = connect()
  const projectId = await resolve(workspace, KINDS.project, project)
  const progress = startProgress('Storing variables', length)
  // Each request stores all of its variables or none.
  for (const chunk of chunks) {
    const { items } = await workspace.projects.environmentVariables.set(projectId, { variables: chunk })
    for (const { key, createdAt, updatedAt } of items) {
      progress.log(outcomeLine(output, createdAt === updatedAt ? 'created' : 'updated', key))
    }
    progress.add(chunk.length)
  }
  progress.end(output.json ? undefined : `${countOf(length, 'variable')} pushed`)
})

const pull = withJson(
  describe(
    'pull',
    'Writes the variables of a project to a .env file that only you can read. They come encrypted to a key that only this process has. The API key needs the scope environment-variables:lease, and has to be restricted to projects: `workspace keys create` makes one. `workspace env run` needs no file.',
    ['env pull --project website', 'env pull .env.local --project website --only GREETING,TOKEN --force'],
  )
    .argument('[file]', 'the file to write', '.env')
    .requiredOption(...PROJECT)
    .option(...ONLY)
    .option('--force', 'replace the file if there is one'),
).action(async (file, { project, only, force, ...output }) => {
  // Before the lease, which is an event.
  if (!force && existsSync(file)) throw new Error(`${file} exists; --force replaces it.`)
  const variables = await lease(project, only)
  await replaceFile(file, writeVariables(variables), 0o600)
  const names = Object.keys(variables)
  print(output, { file, keys: names }, `Wrote ${countOf(names.length, 'variable')} to ${file}.`)
})

const set = withJson(
  describe(
    'set',
    'Stores one variable. Its value is asked for, and not shown. If standard input is not a terminal, it is the value, without one line break at its end.',
    [
      'env set TOKEN --project website',
      'env set TOKEN --project website < token.txt',
      'env set CERTIFICATE --project website --from-file certificate.pem',
    ],
  )
    .argument('<key>', 'the name of the variable')
    .requiredOption(...PROJECT)
    .option('--from-file <file>', 'the file whose content is the value, with all of its line breaks'),
)
  // By itself, commander repeats arguments that are too many.
  .allowExcessArguments()
  .action(async (key, { project, fromFile, ...output }, { args }) => {
    if (key.includes('=') || args.length > 1) {
      throw new UsageError(
        'Values cannot be passed as arguments, which others on this machine can read; allowed: the name of the variable.',
      )
    }
    const value = fromFile === undefined ? await readSecret(`Value of ${key}: `) : readText(fromFile)
    const workspace = connect()
    const projectId = await resolve(workspace, KINDS.project, project)
    const { data, response } = await workspace.projects.environmentVariables
      .put(projectId, key, { value })
      .withResponse()
    const outcome = response.status === CREATED ? 'created' : 'updated'
    print(output, { outcome, ...data }, `${outcome}   ${data.key}`)
  })

const remove = withJson(
  describe('delete', 'Deletes variables of a project.', ['env delete TOKEN --project website'])
    .argument('<keys...>', 'the names of the variables')
    .requiredOption(...PROJECT),
).action(async (keys, { project, ...output }) => {
  const workspace = connect()
  const projectId = await resolve(workspace, KINDS.project, project)
  for (const key of keys) {
    const deleted = await workspace.projects.environmentVariables.delete(projectId, key)
    print(output, deleted, `Deleted ${deleted.key}.`)
  }
})

const list = withLimit(
  describe('list', 'Lists the names of the variables of a project. Values are never shown.', [
    'env list --project website',
    'env list --project website --json',
  ]).requiredOption(...PROJECT),
).action(async ({ project, ...output }) => {
  const workspace = connect()
  const projectId = await resolve(workspace, KINDS.project, project)
  const variables = workspace.projects.environmentVariables.list(projectId, { limit: pageSize(output.limit) })
  await printList(output, variables, {
    NAME: ({ key }) => key,
    CREATED: ({ createdAt }) => time(createdAt),
    UPDATED: ({ updatedAt }) => time(updatedAt),
  })
})

const run = describe(
  'run',
  'Runs a command with the variables of a project in its environment. They come encrypted to a key that only this process has, are decrypted in memory, and are written nowhere. The command gets the signals that this process gets, and its exit code is passed on. The API key needs the scope environment-variables:lease, and has to be restricted to projects: `workspace keys create` makes one.',
  [
    'env run --project website -- npm start',
    "env run --project website --only GREETING,TOKEN -- node -e 'console.log(process.env.GREETING)'",
  ],
)
  .requiredOption(...PROJECT)
  .option(...ONLY)
  .option(
    '--allow-loader-variables',
    'also set variables that change which programs are loaded or started, such as PATH and NODE_OPTIONS',
  )
  .argument('<command...>', 'what to run, after --')
  .action(async ([command = '', ...args], { project, only, allowLoaderVariables }) => {
    const variables = await lease(project, only)
    const refused = allowLoaderVariables ? [] : Object.keys(variables).filter(isLoaderVariable)
    if (refused.length > 0) {
      throw new Error(
        `The project has variables that change which programs are loaded or started; got ${refused.sort().join(', ')}; allowed: other variables, which --only names, or these too with --allow-loader-variables.`,
      )
    }
    const result = await runWith(variables, command, args).catch((error: Error) => {
      const isTooLarge = error.cause === 'E2BIG'
      console.error(isTooLarge ? tooLarge(command, variables) : error.message)
      return { code: error.cause === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE, signal: null }
    })
    if (result.signal === null) process.exit(result.code ?? 0)
    // The signal that ended the command ends this process too, unless Node handles it in another way.
    process.removeAllListeners(result.signal)
    if (!HANDLED_BY_NODE.includes(result.signal)) process.kill(process.pid, result.signal)
    await setTimeout(SIGNAL_MS)
    process.exit(FROM_SIGNAL + constants.signals[result.signal])
  })

/** @throws if the command cannot be started. */
async function runWith(
  variables: Readonly<Record<string, string>>,
  command: string,
  args: readonly string[],
): Promise<Ended> {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  // Before the command starts, so that no signal ends this process alone.
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      if (!hasTerminal || !OF_TERMINAL.includes(signal)) child.kill(signal)
    })
  }
  const { child, ended } = start(command, args, { stdio: 'inherit', env: { ...process.env, ...variables } })
  return ended
}

/** Linux has room for 2 MiB of arguments and environment, and macOS for 1 MiB. */
function tooLarge(command: string, variables: Readonly<Record<string, string>>): string {
  const bytes = Object.entries(variables).reduce((sum, entry) => sum + Buffer.byteLength(entry.join('=')), 0)
  const size = `${(bytes / 2 ** 20).toFixed(1)} MiB`
  return `${command} cannot be started: the variables have ${size}, more than this system allows in an environment. Name those that the command needs with --only.`
}

async function lease(project: string, only?: string[]): Promise<Record<string, string>> {
  const workspace = connect()
  const projectId = await resolve(workspace, KINDS.project, project)
  return leaseVariables(workspace, projectId, only).catch((error: Error) => {
    const isUnrestricted = error instanceof WorkspaceError && error.code === 'restricted_key_required'
    throw isUnrestricted ? new Error(`${UNRESTRICTED} ${CREATE_KEY} ${projectId}`) : error
  })
}

function readText(file: string): string {
  const bytes = readFile(file)
  if (!isUtf8(bytes)) throw new Error(`${file} is not UTF-8 text.`)
  return bytes.toString('utf8')
}

export const env = group(
  'env',
  'Stores and deletes the environment variables of a project, lists their names, and runs commands with them.',
  ['env set TOKEN --project website', 'env push .env --project website', 'env run --project website -- npm start'],
  [push, pull, set, remove, list, run],
)
