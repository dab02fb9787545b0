/** What the commands of `workspace` have in common: help, and wrong use. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runWorkspace } from '../../test/support/commands.ts'
import { freePort, newFolder } from '../../test/support/dev-server.ts'
import { describedCommands } from './support/help.ts'

const folder = newFolder()
const file = join(folder, 'example.env')
/** A folder without schedules and skills. */
const other = join(folder, 'other')
const empty = newFolder()
const ID = '0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60'
/** Where nothing listens. */
const OFFLINE = { url: `http://localhost:${await freePort()}`, apiKey: 'x' }

beforeAll(() => {
  writeFileSync(file, 'A=1\n')
  mkdirSync(other)
  writeFileSync(join(other, 'notes.txt'), 'Neither a schedule nor a skill.')
})
afterAll(() => {
  rmSync(folder, { recursive: true })
  rmSync(empty, { recursive: true })
})

describe('--help', () => {
  it('of every command shows an example, and describes each option and argument', async () => {
    const commands = await describedCommands()
    const descriptions = new Set<string>()
    for (const { command, help } of commands) {
      expect(help).toMatch(new RegExp(`^Usage: workspace ${command.join(' ')}`))
      expect(help).toMatch(/\nExamples:\n {2}(source <\()?workspace /)
      const [, described = ''] = /\n(?:Arguments|Options):\n(.*)\n\nExamples:/s.exec(help) ?? []
      for (const line of described.split('\n').filter((each) => /^ {2}\S/.test(each))) {
        if (!line.endsWith(':')) expect([command, line]).toEqual([command, expect.stringMatching(/^ {2}\S.*? {2,}\S/)])
      }
      expect(described).toContain('-h, --help')
      // Each has a description of its own.
      const [, description = ''] = /^Usage: .*\n\n(.*)\n/.exec(help) ?? []
      expect(description).not.toBe('')
      expect(descriptions).not.toContain(description)
      descriptions.add(description)
    }
  })
})

describe('wrong use', () => {
  const { url, apiKey } = OFFLINE
  const PUSH = ['env', 'push', file, '--project', 'website']
  const wrong: [command: string[], message: string, login?: object][] = [
    [['env', 'push', file], '--project <project> is missing. For help: workspace env push --help'],
    [['env', 'push', '--project', 'website'], "Missing required argument 'file'. For help: workspace env push --help"],
    [PUSH, 'There is no API key for', { apiKey: '' }],
    [PUSH, 'There is no API key. Set WORKSPACE_API_KEY and', { apiKey: '', url: '' }],
    [PUSH, 'There is no service. Set WORKSPACE_URL, or', { url: '' }],
    [PUSH, 'WORKSPACE_URL is not an http or https address; got "localhost"; example: ', { url: 'localhost' }],
    [['skills', 'push'], "Missing required argument 'folder'."],
    [['skills', 'pull'], "Missing required argument 'folder'."],
    [['skills', 'pull', 'x', 'notes', '--all'], '--all cannot be used with names of skills.'],
    [['skills', 'pull', 'x', '--version', '2'], '--version needs the name of one skill.'],
    [
      ['skills', 'pull', 'x', 'notes', '--version', '1.5'],
      "Option '--version <number>' argument '1.5' is invalid. Allowed: a whole number above 0.",
    ],
    [
      ['skills', 'feed', 'create', 'CI', '--skill', 'notes@x'],
      '--skill has a wrong version; got "notes@x"; allowed: a number, as in notes@1.',
    ],
    [['skils'], "Unknown command 'skils' (Did you mean skills?). For help: workspace --help"],
    [['runs', 'wrk'], "Unknown command 'wrk' (Did you mean work?). For help: workspace runs --help"],
    [['runs', 'work'], "Missing required argument 'command'."],
    [
      ['runs', 'work', '--lease', '5', '--', 'true'],
      "Option '--lease <seconds>' argument '5' is invalid. Allowed: a whole number from 60 to 86400.",
    ],
    [['runs', 'complete', ID, 'done'], "Command-argument value 'done' is invalid for argument 'outcome'."],
    [
      ['schedules', 'list', '--project', 'website', '--agent', ID],
      "Option '--agent <agent>' cannot be used with option '--project <project>'.",
    ],
    [
      ['events', '--follow', '--since', '2026-03-01T00:00:00Z'],
      "Option '--since <time>' cannot be used with option '--follow'.",
    ],
    [['login'], '--url is missing: standard input is not a terminal.', { url: '' }],
    [['login'], 'WORKSPACE_URL is not an http or https address; got "localhost"', { url: 'localhost' }],
    [['login'], 'The API key is empty.'],
    [['login', '--url', url], 'The API key is empty.'],
    [['keys', 'create', 'laptop'], '--scope <scope...> is missing.'],
  ]

  it('is one line, and exit code 2', async () => {
    for (const [command, message, login] of wrong) {
      const { status, stdout, stderr } = await runWorkspace(command, { url, apiKey, ...login }, {}, empty)
      expect([command, status, stdout]).toEqual([command, 2, ''])
      expect(stderr.slice(0, message.length)).toBe(message)
      expect(stderr).toMatch(/^.* For help: workspace .*--help\n$/)
    }
  })

  it('is told from an expected failure, which is one line and exit code 1', async () => {
    const failing: [command: string[], message: string][] = [
      [['env', 'push', 'missing', '--project', 'website'], 'missing cannot be read: it does not exist.'],
      [['files', 'put', ID, other], `${other} cannot be read: it is a folder.`],
      [['schedules', 'apply', 'missing'], 'missing cannot be read: it does not exist.'],
      [['schedules', 'apply', file], `${file} cannot be read: it is not a folder.`],
      [PUSH, `No answer from ${url}: the connection was refused (ECONNREFUSED).`],
      [['skills', 'push', other], `No answer from ${url}: the connection was refused (ECONNREFUSED).`],
      [['skills', 'pull', 'new', '--all'], `No answer from ${url}: the connection was refused (ECONNREFUSED).`],
      [['schedules', 'apply', other], `${other} has no .yaml file.`],
      [['runs', 'work', '--once', '--', 'true'], `No answer from ${url}: the connection was refused (ECONNREFUSED).`],
      [
        ['env', 'run', '--project', 'website', '--', 'true'],
        `No answer from ${url}: the connection was refused (ECONNREFUSED).`,
      ],
    ]
    for (const [command, message] of failing) {
      const { status, printed } = await runWorkspace(command, OFFLINE, {}, empty)
      expect([command, status, printed]).toEqual([command, 1, `${message}\n`])
    }
    expect(readdirSync(empty)).toEqual([])
  })
})
