/** `workspace env`: the environment variables of a project. */
import { constants } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { leaseVariables, WorkspaceError } from '../../client/src/index.ts'
import { startProgress, UsageError } from '../../command-line/src/index.ts'
import { describeProblems, setEnvironmentVariablesContract } from '../../src/contracts.ts'
import { type Ended, start } from './child.ts'
import { describe, group, withJson, withLimit } from './command.ts'
import { readVariables } from './env-file.ts'
import { isLoaderVariable } from './loader-variables.ts'
import { countOf, outcomeLine, printList } from './output.ts'
import { connect, pageSize } from './service.ts'

const PROJECT = ['--project <id>', 'the project'] as const
const UNRESTRICTED = 'This needs an API key that is restricted to projects. To create one:'
const CREATE_KEY = 'workspace keys create sandbox --scope environment-variables:lease --project'
/** As in shells: the command was not found, or it cannot be executed. */
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
    ['env push .env --project website'],
  )
    .argument('<file>', 'a .env file')
    .requiredOption(...PROJECT),
).action(async (file, { project: projectId, ...output }) => {
  checkProject(projectId)
  const chunks = readVariables(file)
  const { length } = chunks.flat()
  const { environmentVariables } = connect().projects
  const progress = startProgress('Storing variables', length)
  // Each request stores all of its variables or none.
  for (const chunk of chunks) {
    const { items } = await environmentVariables.set(projectId, { variables: chunk })
    for (const { key, createdAt, updatedAt } of items) {
      progress.log(outcomeLine(output, createdAt === updatedAt ? 'created' : 'updated', key))
    }
    progress.add(chunk.length)
  }
  progress.end(output.json ? undefined : `${countOf(length, 'variable')} pushed`)
})

const list = withLimit(
  describe('list', 'Lists the names of the variables of a project. Values are never shown.', [
    'env list --project website',
    'env list --project website --json',
  ]).requiredOption(...PROJECT),
).action(async ({ project: projectId, ...output }) => {
  checkProject(projectId)
  const variables = connect().projects.environmentVariables.list(projectId, { limit: pageSize(output.limit) })
  await printList(output, variables, {
    NAME: ({ key }) => key,
    CREATED: ({ createdAt }) => createdAt,
    UPDATED: ({ updatedAt }) => updatedAt,
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
  .option('--only <names>', 'only these variables, separated by commas', (text) => text.split(','))
  .option(
    '--allow-loader-variables',
    'also set variables that change which programs are loaded or started, such as PATH and NODE_OPTIONS',
  )
  .argument('<command...>', 'what to run, after --')
  .action(async ([command = '', ...args], { project, only, allowLoaderVariables }) => {
    checkProject(project)
    const variables = await leaseVariables(connect(), project, only).catch((error: Error) => {
      const isUnrestricted = error instanceof WorkspaceError && error.code === 'restricted_key_required'
      throw isUnrestricted ? new Error(`${UNRESTRICTED} ${CREATE_KEY} ${project}`) : error
    })
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

function checkProject(projectId: string): void {
  const schema = setEnvironmentVariablesContract.params
  const data = { projectId }
  const result = schema.safeParse(data)
  if (result.success) return
  const problems = describeProblems(result.error.issues, { schema, data, isSecret: false })
  throw new UsageError(problems.replace('projectId', '--project'))
}

export const env = group(
  'env',
  'Stores the environment variables of a project, lists their names, and runs commands with them.',
  ['env push .env --project website', 'env run --project website -- npm start'],
  [push, list, run],
)
