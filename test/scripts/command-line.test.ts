/** What the scripts have in common. None here starts wrangler, or gets beyond its checks. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCRIPT_COMMANDS, type ScriptCommands } from '../../tools/commands.ts'
import { type Ended, ROOT, runScript } from '../support/commands.ts'
import { freePort, newFolder } from '../support/dev-server.ts'

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
/** The scripts that people run, and their commands; the others run packages. */
const NAMES = [
  ...Object.keys(scripts).filter((name) => /^node \S+\.ts\b/.test(scripts[name]) && !/^test:/.test(name)),
  ...Object.entries(SCRIPT_COMMANDS).flatMap(([script, commands]) =>
    Object.entries(commands as ScriptCommands).flatMap(([name, { argv }]) =>
      /\.ts$/.test(argv[argv.length - 1] ?? '') && name !== 'types' ? [`${script} ${name}`] : [],
    ),
  ),
]
const asTyped = (script: string) => script.replace(' ', ' -- ')

const folder = newFolder()
const file = join(folder, 'example.env')
/** A folder with a file, which is no state folder. */
const other = join(folder, 'other')
const empty = newFolder()
const ID = '0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60'
/** The file as wrangler names it. */
const CONFIG = relative(realpathSync(empty), join(ROOT, 'wrangler.toml'))
const PORT = String(await freePort())
/** So that no demo workspace of this checkout is used. */
const VARIABLES = {
  WORKSPACE_URL: '',
  WORKSPACE_API_KEY: '',
  DEBUG: '',
}

/** Runs commands side by side. */
async function runAll(commands: readonly (readonly [script: string, ...args: string[]])[]): Promise<Ended[]> {
  const results: Ended[] = []
  const waiting = [...commands.entries()]
  const runWaiting = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, [script, ...args]] = next
      results[index] = await runScript(script, args, VARIABLES, empty)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
  return results
}

beforeAll(() => {
  writeFileSync(file, 'A=1\n')
  mkdirSync(other)
  writeFileSync(join(other, 'notes.txt'), 'Not a state folder.')
})
afterAll(() => {
  rmSync(folder, { recursive: true })
  rmSync(empty, { recursive: true })
})

describe('--help', () => {
  it('of every script shows an example, and describes each option and argument', async () => {
    expect(NAMES.length).toBeGreaterThan(20)
    const results = await runAll(NAMES.map((name) => [name, '--help']))
    for (const [index, { status, stdout, stderr }] of results.entries()) {
      const name = NAMES[index]
      expect([name, status, stderr]).toEqual([name, 0, ''])
      const typed = asTyped(name ?? '')
      expect(stdout).toMatch(new RegExp(`^Usage: npm run ${typed} `))
      expect(stdout).toContain(`\nExamples:\n  npm run ${typed}`)
      const [, described = ''] = /\n(?:Arguments|Options):\n(.*)\n\nExamples:/s.exec(stdout) ?? []
      for (const line of described.split('\n').filter((each) => /^ {2}\S/.test(each))) {
        expect([name, line]).toEqual([name, expect.stringMatching(/^ {2}\S.*? {2,}\S/)])
      }
      // What the help says of a script is said nowhere else in it.
      expect(described).toContain('-h, --help')
    }
  })
})

const HELP = (script: string) =>
  ` For help: npm run ${script.includes(' ') ? asTyped(script) : `${script} --`} --help\n`

describe('wrong use', () => {
  const wrong: [command: [script: string, ...args: string[]], message: string][] = [
    [
      ['operate', 'statsu'],
      "Unknown command 'statsu'; allowed: bootstrap, status, organization, brake, database, backup, restore, restore-test, reseal.",
    ],
    [['check', 'typos'], "Unknown check 'typos'; allowed: types, contracts, "],
    [['check', '--fast'], "Unknown option '--fast'."],
    [['test', '--slwo'], "Unknown option '--slwo' (Did you mean --slow?)."],
    [['generate sql', 'pins'], 'Too many arguments. Expected 0 arguments but got 1: pins.'],
    [
      ['bench soak', '--minutes', 'ten'],
      "Option '--minutes <number>' argument 'ten' is invalid. Allowed: a number above 0.",
    ],
    [
      ['bench soak', '--connections', '-1'],
      "Option '--connections <number>' argument '-1' is invalid. Allowed: a number above 0.",
    ],
    [
      ['dev', '--port', '70000'],
      "Option '--port <number>' argument '70000' is invalid. Allowed: a whole number from 1 to 65535.",
    ],
    [['operate backup'], '--output <file> is missing.'],
    [['operate backup', '--ouput', file], "Unknown option '--ouput' (Did you mean --output?)."],
    [['operate backup', '--output'], "Option '--output <file>' argument missing."],
    [['operate backup', '--output', '--remote'], '--output has no value; got the option --remote instead.'],
    [['operate backup', '--output='], '--output is empty.'],
    [['operate backup', '--output', 'FILE'], '--output FILE exists already; allowed: a file that does not exist yet.'],
    [['operate backup', '--output', 'new', '--env', 'staging'], '--env selects a deployment, so it needs --remote.'],
    [
      ['operate backup', '--output', 'new', '--remote', '--persist-to', 'x'],
      '--persist-to selects a local database, so it cannot be used with --remote.',
    ],
    [
      ['operate restore'],
      'Pass either --input <file>, a file that `npm run operate -- backup` wrote, or --time-travel <instant>.',
    ],
    [
      ['operate restore', '--input', 'missing'],
      '--input does not exist; got "missing"; allowed: a file or a folder that `npm run operate -- backup` wrote.',
    ],
    [
      ['operate restore', '--time-travel', '2026-01-01T00:00:00Z'],
      '--time-travel needs --remote: only a deployed database has a history.',
    ],
    [['operate reseal'], '--to <key ID> is missing.'],
    [['operate bootstrap', '--user', 'ada'], 'Pass either --organization <name> or --organization-id <id>.'],
    [['operate bootstrap', '--organization', 'Acme'], 'Pass either --user <id> or --service.'],
    [
      ['operate bootstrap', '--organization', 'Acme', '--service', '--user', 'ada'],
      'Pass either --user <id> or --service.',
    ],
    [['operate bootstrap', '--organization-id', 'x', '--service'], '--organization-id is not a UUID; got "x".'],
    [
      ['operate bootstrap', '--organization', 'Acme', '--service', '--scopes', 'all'],
      '--scopes has unknown scopes: all; allowed: ',
    ],
    [['deploy', '--user', '..'], '--user is not a user ID; got "..".'],
    [
      ['operate organization'],
      "Missing required argument 'command'; allowed: list, show, export, move, suspend, resume, delete.",
    ],
    [
      ['operate organization', 'lst'],
      "Unknown command 'lst'; allowed: list, show, export, move, suspend, resume, delete.",
    ],
    [['operate organization', 'export', ID], '--output <folder> is missing.'],
    [['operate status', 'all'], 'Too many arguments. Expected 0 arguments but got 1: all.'],
    [
      ['operate backup', '--with-object', '--output', 'new'],
      "Unknown option '--with-object' (Did you mean --with-objects?).",
    ],
  ]

  it('is one line, and exit code 2', async () => {
    const commands = wrong.map(([command]) => command.map((arg) => (arg === 'FILE' ? file : arg)))
    const results = await runAll(commands as [string, ...string[]][])
    for (const [index, { status, stdout, stderr }] of results.entries()) {
      const [[script], message] = wrong[index] ?? [[''], '']
      expect([wrong[index]?.[0], status, stdout]).toEqual([wrong[index]?.[0], 2, ''])
      const expected = message.replace('FILE', file)
      expect(stderr.slice(0, expected.length)).toBe(expected)
      expect(stderr.slice(-HELP(script).length)).toBe(HELP(script))
      expect(stderr.split('\n')).toHaveLength(2)
    }
  })
})

describe('an expected failure', () => {
  const TARGET = ['--persist-to', other]
  const none = `There is no database in ${other}. \`npm run dev\` creates one.`
  const files = `${other} is not a state folder: it has files, but no folder v3; name a new or an empty folder with --persist-to.`
  const failing: [command: [script: string, ...args: string[]], message: string][] = [
    [['operate backup', '--output', 'new', ...TARGET], none],
    [['operate organization', 'export', ID, '--output', 'new', ...TARGET], none],
    [['operate organization', 'delete', ID, '--name', 'Acme', ...TARGET], none],
    [['operate reseal', '--to', 'key-1', ...TARGET], none],
    [['operate bootstrap', '--organization', 'Acme', '--service', ...TARGET], none],
    [['operate restore', '--input', file, ...TARGET], files],
    [['dev', '--port', PORT, ...TARGET], files],
    [
      ['operate backup', '--output', 'new', '--remote', '--config', 'missing.toml'],
      `Could not read file: ${join(empty, 'missing.toml')}`,
    ],
    [
      ['operate backup', '--output', 'new', '--remote', '--env', 'nothing'],
      `Processing ${CONFIG} configuration: - No environment found in configuration with name "nothing". Before using \`--env=nothing\` there should be an equivalent environment section in the configuration. The available configured environment names are: ["staging"]`,
    ],
    [['example'], 'There is no demo workspace. `npm run dev` creates one.'],
  ]

  it('is one line, and exit code 1, and changes nothing', async () => {
    const results = await runAll(failing.map(([command]) => command))
    for (const [index, { status, printed }] of results.entries()) {
      const [command, message] = failing[index] ?? []
      expect([command, status, printed]).toEqual([command, 1, `${message}\n`])
    }
    expect([readdirSync(other), readdirSync(empty)]).toEqual([['notes.txt'], []])
  })
})
