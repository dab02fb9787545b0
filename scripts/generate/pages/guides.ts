/** The guides for API users, which a deployment serves under `docs/`: pages of docs/ whose links work there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../../operate/wrangler.ts'

export const DESCRIPTION =
  'Workspace API stores what a team of coding agents shares: pins, schedules, session files, skills, profile pictures and ' +
  'encrypted environment variables. Programs call it over HTTP with an API key and get JSON.'

export const GUIDES = [
  { name: 'contract', title: 'API contract', description: 'the rules of all operations' },
  {
    name: 'clients',
    title: 'Write a client',
    description: 'repeating requests, reading pages, importing skills and environment variables',
  },
  {
    name: 'schedules',
    title: 'Schedule work and receive its runs',
    description: 'by webhook or by pulling, and on your machine',
  },
  {
    name: 'events',
    title: 'Follow what happens',
    description: 'the events of an organization, and how to keep a cache fresh',
  },
  {
    name: 'mcp',
    title: 'Connect an agent by MCP',
    description: 'configuration of Claude Code, Codex, Cursor and VS Code, and what each tool does',
  },
] as const

export type GuideName = (typeof GUIDES)[number]['name']

const TERMS = '../README.md#what-it-stores'

/** The Markdown of a guide. Links to files that a deployment does not serve become text. */
export function guideMarkdown(name: GuideName): string {
  const served = new RegExp(`^(https:|#|(${GUIDES.map((guide) => guide.name).join('|')})\\.md(#|$))`)
  const text = readFileSync(join(ROOT, 'docs', `${name}.md`), 'utf8')
  const terms = text.includes(TERMS) ? `\n## Terms\n\n${glossary()}\n` : ''
  const linked = text.replaceAll(TERMS, '#terms') + terms
  return linked.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, label, target) => (served.test(target) ? link : label))
}

/** The terms of the API: the table of the README's section "What it stores". */
function glossary(): string {
  const [, section = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n## What it stores\n')
  const [, , ...rows] = section.slice(0, section.indexOf('\n## ')).trim().split('\n')
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()))
  return cells.map(([, term, meaning]) => `- ${term}: ${meaning}`).join('\n')
}
