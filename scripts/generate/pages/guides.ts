/** The guides for API users, which a deployment serves under `docs/`: pages of the repository whose links work there. */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { ROOT } from '../../../tools/wrangler.ts'

export const DESCRIPTION =
  'Workspace API stores what a team of coding agents shares: pins, schedules, session files, skills, profile pictures and ' +
  'encrypted environment variables. Programs call it over HTTP with an API key and get JSON.'

export const GUIDES = [
  { name: 'contract', file: 'docs/contract.md', title: 'API contract', description: 'the rules of all operations' },
  {
    name: 'keys',
    file: 'docs/contract-keys.md',
    title: 'API keys and sign-in',
    description: 'scopes, projects, rotation, sessions, and people who sign in',
  },
  {
    name: 'resources',
    file: 'docs/contract-resources.md',
    title: 'Resources',
    description: 'projects, agents, deletions, events, pins, files, skills, pictures and variables',
  },
  {
    name: 'work',
    file: 'docs/contract-work.md',
    title: 'Scheduled work',
    description: 'schedules, runs and the run endpoint',
  },
  {
    name: 'clients',
    file: 'docs/clients.md',
    title: 'Write a client',
    description: 'repeating requests, reading pages, importing skills and environment variables',
  },
  {
    name: 'client',
    file: 'client/README.md',
    title: 'TypeScript client',
    description: 'a typed client for Node, browsers and Workers',
  },
  {
    name: 'command',
    file: 'cli/README.md',
    title: 'The command workspace',
    description: 'skills, environment variables, schedules, runs, files and API keys on the command line',
  },
  {
    name: 'people',
    file: 'docs/people.md',
    title: 'Add a person',
    description: 'users, API keys with the scopes that a person or a service needs, and how to end them',
  },
  {
    name: 'schedules',
    file: 'docs/schedules.md',
    title: 'Schedule work and receive its runs',
    description: 'by webhook or by pulling, and on your machine',
  },
  {
    name: 'events',
    file: 'docs/events.md',
    title: 'Follow what happens',
    description: 'the events of an organization, and how to keep a cache fresh',
  },
  {
    name: 'mcp',
    file: 'docs/mcp.md',
    title: 'Connect an agent by MCP',
    description: 'configuration of Claude Code, Codex, Cursor and VS Code, and what each tool does',
  },
] as const

export type Guide = (typeof GUIDES)[number]

/** The Markdown of a guide. Links to files that a deployment does not serve become text. */
export function guideMarkdown({ file }: Guide): string {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return text.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, label, target) => {
    if (/^(https:|#)/.test(target)) return link
    const path = posix.join(posix.dirname(file), target)
    const served = servedPath(path)
    return served === undefined ? label : `[${label}](${served})`
  })
}

/** Where a deployment serves a file of the repository, beside the other guides. @param path may end with an anchor. */
function servedPath(path: string): string | undefined {
  const [file, anchor] = path.split('#')
  const guide = GUIDES.find((each) => each.file === file)
  return guide && `${guide.name}.md${anchor === undefined ? '' : `#${anchor}`}`
}
