/** `workspace schedules`. */
import { join, parse } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Command, Option, type OptionValues } from '@commander-js/extra-typings'
import { load, YAMLException } from 'js-yaml'
import { v5 as derivedUuid } from 'uuid'
import { type Body, type components, type Data, type Workspace, WorkspaceError } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import { countOf, startProgress } from '../../command-line/src/index.ts'
import {
  agentScheduleContracts,
  describeProblems,
  describeSize,
  projectScheduleContracts,
  YAML_LIMITS,
} from '../../src/contracts.ts'
import { describe, given, group, integerFrom, withJson, withLimit, withTimes } from './command.ts'
import { readFile, readFolder } from './local-files.ts'
import {
  type Columns,
  dryRunNote,
  type OutputOptions,
  outcomeLine,
  print,
  printList,
  printProperties,
} from './output.ts'
import { isConfirmed } from './prompt.ts'
import { AGENT, KINDS, methodsOf, PROJECT, resolve, SCHEDULE, scheduleOf } from './resolve.ts'
import { CREATED, connect, pageSize } from './service.ts'
import { time } from './times.ts'

/** The namespace of the IDs that are derived from a file name. It never changes. */
const NAMESPACE = '5b0c2f0e-6f1d-5d0a-9a41-7c1f3a6d2e88'
/** The most bytes of the body of a request, in which each value takes at least two. */
const MAX_FILE_BYTES = 64 * 1024
const MAX_VALUES = MAX_FILE_BYTES / 2

interface Declared {
  readonly file: string
  readonly ids: { readonly scheduleId: string; readonly projectId?: string; readonly agentId?: string }
  /** The body of the PUT. */
  readonly settings: Settings
  /** The same, in the form in which the service returns it. */
  readonly parsed: Settings
}

type Settings = Body<'putProjectSchedule'> & Body<'putAgentSchedule'>
type Details = Data<'retrieveProjectSchedule'> | Data<'retrieveAgentSchedule'>

const apply = withJson(
  describe(
    'apply',
    'Creates and changes schedules so that they are as the files of a folder say, one schedule in each .yaml file. All files are checked before the first request. A schedule without a file is left alone, or with --prune deleted, if it belongs to a project or an agent that a file names. The API key needs the scopes schedules:read and schedules:write.',
    ['schedules apply schedules/', 'schedules apply schedules/ --prune --dry-run'],
  )
    .argument('<folder>', 'the folder of the files')
    .option('--dry-run', 'print what would be created, changed and deleted, and change nothing')
    .option('--prune', 'delete the schedules that no file describes, after showing them and asking')
    .option('--yes', 'with --prune: do not ask'),
).action(async (folder, options) => {
  const declared = readSchedules(folder)
  const workspace = connect()
  const progress = startProgress('Applying schedules', declared.length)
  for (const schedule of declared) {
    try {
      const { outcome, pausedReason } = await applyOne(workspace, schedule, options)
      const detail = pausedReason ? `, paused: ${pausedReason}` : ''
      progress.log(outcomeLine(options, outcome, schedule.file, detail, { pausedReason }))
    } catch (error) {
      progress.warn(`failed    ${schedule.file}: ${(error as Error).message}`)
      process.exitCode = 1
    }
    progress.add()
  }
  progress.end()
  if (options.prune) await prune(workspace, declared, options)
  const note = dryRunNote(options)
  if (note) console.log(note)
})

interface PruneOptions extends OutputOptions {
  readonly dryRun?: true | undefined
  readonly yes?: true | undefined
}

/** Deletes what no file describes, of the parents that files name. */
async function prune(workspace: Workspace, declared: readonly Declared[], options: PruneOptions): Promise<void> {
  if (process.exitCode) return console.error('Nothing was deleted, because a file could not be applied.')
  const parents = new Map(
    declared.map((schedule) => [`${schedule.ids.projectId} ${schedule.ids.agentId}`, schedule.ids]),
  )
  const kept = new Set(declared.map(({ ids }) => ids.scheduleId))
  const extra: { id: string; parentId: string; schedules: ReturnType<typeof methodsOf>; label: string }[] = []
  for (const ids of parents.values()) {
    const schedules = methodsOf(workspace, ids.projectId !== undefined)
    const parentId = (ids.projectId ?? ids.agentId) as string
    for await (const { id, name, cron, runAt } of schedules.list(parentId, { limit: pageSize() })) {
      if (!kept.has(id)) extra.push({ id, parentId, schedules, label: `${id}, ${name ?? cron ?? runAt}` })
    }
  }
  if (extra.length === 0) return
  if (!options.dryRun && !options.yes) {
    for (const { label } of extra) console.error(printable(`No file describes ${label}.`))
    if (!(await isConfirmed(`Delete ${countOf(extra.length, 'schedule')}?`, '--yes'))) {
      throw new Error('Nothing was deleted.')
    }
  }
  for (const { id, parentId, schedules, label } of extra) {
    if (!options.dryRun) await schedules.delete(parentId, id)
    console.log(outcomeLine(options, options.dryRun ? 'to delete' : 'deleted', label, '', { id }))
  }
}

/** @throws the problems of all files. */
function readSchedules(folder: string): Declared[] {
  const problems: string[] = []
  const byId = new Map<string, Declared>()
  for (const file of filesOf(folder)) {
    try {
      const schedule = readSchedule(folder, file)
      const other = byId.get(schedule.ids.scheduleId)
      if (other) throw new Error(`has the same ID as ${other.file}: ${schedule.ids.scheduleId}`)
      byId.set(schedule.ids.scheduleId, schedule)
    } catch (error) {
      problems.push(`${join(folder, file)}: ${(error as Error).message}`)
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'))
  if (byId.size === 0) throw new Error(`${folder} has no .yaml file.`)
  return [...byId.values()]
}

function filesOf(folder: string): string[] {
  const names = readFolder(folder).map(({ name }) => name)
  return names.filter((file) => /\.ya?ml$/.test(file))
}

/** @throws what is wrong with the file. */
function readSchedule(folder: string, file: string): Declared {
  const { project, agent, id, ...settings } = readYaml(join(folder, file))
  if ((project === undefined) === (agent === undefined)) {
    throw new Error('has to have either project or agent: the ID of the one that the schedule belongs to')
  }
  const [type, parentId] = project === undefined ? (['agent', agent] as const) : (['project', project] as const)
  const derivedId = () => derivedUuid(`${type} ${parentId}/${parse(file).name}`, NAMESPACE)
  const { params, body } = type === 'project' ? projectScheduleContracts.put : agentScheduleContracts.put
  const ids = { [`${type}Id`]: parentId, scheduleId: id ?? derivedId() }
  for (const [schema, data] of [
    [params, ids],
    [body, settings],
  ] as const) {
    const result = schema.safeParse(data)
    if (result.success) continue
    const text = describeProblems(result.error.issues, { schema, data, isSecret: false })
    const inFile = text.replaceAll(/\b(project|agent)Id\b/g, '$1').replaceAll(/\bscheduleId\b/g, 'id')
    throw new Error(inFile.replaceAll(/(?<=^|\. )body(?= )/g, 'the file'))
  }
  // The schemas of the operation have checked it.
  return { file, ids: params.parse(ids), settings: settings as Settings, parsed: body.parse(settings) as Settings }
}

function readYaml(file: string): Record<string, unknown> {
  try {
    const bytes = readFile(file)
    if (bytes.length > MAX_FILE_BYTES) {
      const allowed = `up to ${describeSize(MAX_FILE_BYTES)}`
      throw new Error(`is too large; got ${bytes.length} bytes; allowed: ${allowed}`)
    }
    const value = load(bytes.toString('utf8'), YAML_LIMITS)
    checkValues(value)
    if (Object(value) === value && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const line = error.mark ? `line ${error.mark.line + 1}: ` : ''
    throw new Error(`${line}is not YAML: ${error.reason}`)
  }
  throw new Error('is not a schedule; allowed: YAML with project or agent, cron or runAt, and so on')
}

/** An alias is written once and read each time. @throws if there are more values than a request can have. */
function checkValues(value: unknown): void {
  let count = 0
  const countValues = (_: string, each: unknown) => {
    if (++count > MAX_VALUES) {
      throw new Error(`has too many values, with those that aliases repeat; allowed: up to ${MAX_VALUES}`)
    }
    return each
  }
  try {
    JSON.stringify(value, countValues)
  } catch (error) {
    throw error instanceof TypeError ? new Error('has an alias inside of what it refers to') : error
  }
}

async function applyOne(
  workspace: Workspace,
  { ids: { scheduleId, projectId, agentId }, settings, parsed }: Declared,
  { dryRun }: { readonly dryRun?: true | undefined },
) {
  const schedules = methodsOf(workspace, projectId !== undefined)
  const parentId = (projectId ?? agentId) as string
  const before = await schedules
    .retrieve(parentId, scheduleId)
    .withResponse()
    .catch((error: Error) => {
      if (error instanceof WorkspaceError && error.code === 'schedule_not_found') return undefined
      throw error
    })
  if (dryRun) {
    const outcome = !before ? 'to create' : isAsDeclared(before.data, parsed) ? 'unchanged' : 'to change'
    return { outcome, pausedReason: before?.data.pausedReason }
  }
  const { data, response } = await schedules.put(parentId, scheduleId, settings).withResponse()
  const isEqual = response.headers.get('ETag') === before?.response.headers.get('ETag')
  const outcome = response.status === CREATED ? 'created' : isEqual ? 'unchanged' : 'changed'
  return { outcome, pausedReason: data.pausedReason }
}

/** Whether a PUT would change nothing. */
function isAsDeclared(state: Details, declared: Settings): boolean {
  const { enabled = true, timezone, ...settings } = declared
  const defaults = {
    name: null,
    cron: null,
    runAt: null,
    payload: null,
    overlap: 'allow',
    maxRunSeconds: null,
    pauseAfterFailures: null,
    note: null,
  } satisfies { readonly [Name in keyof Settings]?: unknown }
  const current: Readonly<Record<string, unknown>> = { ...state }
  const hasSameTimezone = timezone === undefined || timezone === timezoneOf(state)
  const isSameEnabled = enabled === (state.enabledAt !== null || state.pausedReason !== null)
  const wanted = Object.entries({ ...defaults, ...settings })
  return hasSameTimezone && isSameEnabled && wanted.every(([name, value]) => isDeepStrictEqual(current[name], value))
}

const list = withLimit(
  describe('list', 'Lists schedules: all, with their last outcomes, or those of a project or an agent.', [
    'schedules list',
    'schedules list --project website -o wide',
  ])
    .option('--project <project>', 'only those of this project')
    .addOption(new Option('--agent <agent>', 'only those of this agent').conflicts('project'))
    .addOption(
      new Option('--query <text>', 'only those whose name contains this text').conflicts(['project', 'agent']),
    ),
).action(async ({ project, agent, query, ...output }) => {
  const workspace = connect()
  const limit = pageSize(output.limit)
  const schedules = project
    ? workspace.projects.schedules.list(await resolve(workspace, KINDS.project, project), { limit })
    : agent && workspace.agents.schedules.list(await resolve(workspace, KINDS.agent, agent), { limit })
  if (schedules) return printList<ListedSchedule>(output, schedules, COLUMNS, WIDE_COLUMNS)
  const all = workspace.schedules.list({ limit, ...(query && { query }) })
  await printList(output, all, { ...COLUMNS, OUTCOME: ({ lastOutcomes }) => lastOutcomes[0] }, WIDE_COLUMNS)
})

type ListedSchedule =
  | components['schemas']['ScheduleSummary']
  | Data<'listProjectSchedules'>['items'][number]
  | Data<'listAgentSchedules'>['items'][number]

function parentOf(schedule: ListedSchedule): string {
  if (!('projectId' in schedule)) return `agent ${schedule.agentId}`
  const isOfAgent = 'agentId' in schedule && schedule.projectId === null
  return isOfAgent ? `agent ${schedule.agentId}` : `project ${schedule.projectId}`
}
const timezoneOf = (schedule: ListedSchedule) => ('projectId' in schedule ? schedule.timezone : 'UTC')
const isPaused = ({ enabledAt }: ListedSchedule) => enabledAt === null
const pauseOf = ({ enabledAt, pausedReason }: ListedSchedule) =>
  pausedReason ?? (enabledAt === null ? 'by a request' : null)

const COLUMNS: Columns<ListedSchedule> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  FIRES: ({ cron, runAt }) => cron ?? time(runAt),
  'NEXT RUN': (schedule) => (isPaused(schedule) ? 'paused' : time(schedule.nextRunAt)),
  'LAST RUN': ({ lastRunAt }) => time(lastRunAt),
}
const WIDE_COLUMNS: Columns<ListedSchedule> = { OF: parentOf, TIMEZONE: timezoneOf, PAUSED: pauseOf }

/** For a command that works on one schedule. */
function withSchedule<Options extends OptionValues>(command: Command<[], Options>) {
  return command
    .argument('<schedule>', SCHEDULE)
    .option(...PROJECT)
    .addOption(new Option(...AGENT).conflicts('project'))
}

const show = withTimes(
  withSchedule(
    describe('show', 'Shows a schedule: its settings, when it fires, and how its runs ended in the last days.', [
      'schedules show "Nightly build"',
      'schedules show 0198c2a4-6b0f --project website',
    ]),
  ),
).action(async (text, { project, agent, ...output }) => {
  const { schedules, parentId, id } = await scheduleOf(connect(), text, { project, agent })
  const schedule = await schedules.retrieve(parentId, id)
  const { since, runs, succeeded, failed, medianSeconds } = schedule.statistics
  printProperties(output, schedule, {
    schedule: schedule.name ? `${schedule.name} (${schedule.id})` : schedule.id,
    of: parentOf(schedule),
    fires: schedule.cron ?? time(schedule.runAt),
    'time zone': schedule.cron && timezoneOf(schedule),
    'next run': time(schedule.nextRunAt),
    'last run': time(schedule.lastRunAt),
    paused: pauseOf(schedule),
    payload: schedule.payload && JSON.stringify(schedule.payload),
    overlap: schedule.overlap,
    'longest run': schedule.maxRunSeconds && `${schedule.maxRunSeconds} s`,
    'paused after': schedule.pauseAfterFailures && countOf(schedule.pauseAfterFailures, 'failure'),
    note: schedule.note,
    'runs since': time(since),
    runs: `${runs}: ${succeeded} succeeded, ${failed} failed`,
    'median time': medianSeconds === null ? null : `${medianSeconds} s`,
  })
})

const run = withJson(
  withSchedule(
    describe('run', 'Creates a run of a schedule now, besides those that are due.', ['schedules run "Nightly build"']),
  ),
).action(async (text, { project, agent, ...output }) => {
  const { schedules, parentId, id } = await scheduleOf(connect(), text, { project, agent })
  const created = await schedules.runs.create(parentId, id)
  print(output, created, `Created the run ${created.id}.`)
})

const enable = (enabled: boolean) =>
  withJson(
    withSchedule(
      enabled
        ? describe('resume', 'Resumes a paused schedule: it fires from its next time on.', [
            'schedules resume "Nightly build"',
          ])
        : describe('pause', 'Pauses a schedule: it does not fire until it is resumed.', [
            'schedules pause "Nightly build"',
          ]),
    ),
  ).action(async (text, { project, agent, ...output }) => {
    const { schedules, parentId, id } = await scheduleOf(connect(), text, { project, agent })
    const schedule = await schedules.update(parentId, id, { enabled })
    print(output, schedule, `${enabled ? 'Resumed' : 'Paused'} ${schedule.name ?? id}.`)
  })

const remove = withJson(
  withSchedule(
    describe('delete', 'Deletes a schedule with its runs.', ['schedules delete "Nightly build" --project website']),
  ),
).action(async (text, { project, agent, ...output }) => {
  const { schedules, parentId, id } = await scheduleOf(connect(), text, { project, agent })
  print(output, await schedules.delete(parentId, id), `Deleted ${id}.`)
})

const preview = withJson(
  describe('preview', 'Shows the next times at which a cron expression fires.', [
    "schedules preview '30 9 * * mon-fri' --timezone Europe/Paris",
    "schedules preview '0 6 * * *' --count 10",
  ])
    .argument('<cron>', 'the cron expression')
    .option('--timezone <name>', 'an IANA time zone; default: UTC')
    .option('--from <time>', 'times later than this one; default: now')
    .option('--count <number>', 'how many times; default: 5', integerFrom(1, 100)),
).action(async (cron, { json, timezone, from, count }) => {
  const query = given({ cron, timezone, from, count })
  const { items: times } = await connect().schedules.preview(query)
  await printList({ json }, times, {
    UTC: ({ at }) => at,
    'LOCAL TIME': ({ localTime }) => localTime,
  })
})

export const schedules = group(
  'schedules',
  'Applies schedules from a folder of files, lists, shows, runs, pauses and deletes them, and previews when they fire.',
  ['schedules apply schedules/', 'schedules list', "schedules preview '30 9 * * mon-fri'"],
  [apply, list, show, run, enable(false), enable(true), remove, preview],
)
