/** What requests send of skills. */

export interface SentFile {
  readonly filename: string
  readonly content: string
  readonly encoding?: 'utf-8' | 'base64'
  readonly executable?: boolean
}

/** A SKILL.md whose front matter describes the skill. */
export function entryFile(name = 'release-notes', description = 'Writes release notes.', text = '# Notes\n'): SentFile {
  // A string of JSON is one of YAML.
  const content = `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\n---\n${text}`
  return { filename: 'SKILL.md', content }
}

export const SCRIPT: SentFile = { filename: 'scripts/run.sh', content: 'echo\n' }

/** The body of a request that creates or updates a skill. */
export function skillOf({
  name = 'release-notes',
  description = 'Writes release notes.',
  files = [SCRIPT] as readonly SentFile[],
} = {}) {
  return { files: [entryFile(name, description), ...files] }
}

/** A file for each content. */
export const filesOf = (...contents: string[]): SentFile[] =>
  contents.map((content, index) => ({ filename: `file-${index}.md`, content }))
