/** What the files of a skill contain. */
import type { SkillFile } from './data.ts'

export function bytesOf({ content, encoding }: SkillFile): Uint8Array<ArrayBuffer> {
  if (encoding === 'utf-8') return new TextEncoder().encode(content)
  return Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
}

/** The front matter of SKILL.md and what follows it; without one, all of the text follows. */
export function splitFrontMatter(text: string): { readonly frontMatter: string | undefined; readonly body: string } {
  const [start, frontMatter] = /^\ufeff?---[ \t]*\r?\n([\s\S]{0,20000}?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? []
  return start === undefined ? { frontMatter, body: text } : { frontMatter, body: text.slice(start.length) }
}

const MAX_LINE_LENGTH = 10_000

/** Whether the browser could draw the text in an editor, which breaks no lines and leaves out no marks. */
export function isEditable({ content, encoding }: SkillFile): boolean {
  if (encoding !== 'utf-8' || /\p{M}{9}/u.test(content)) return false
  return content.split(/\r\n?|\n/).every((line) => line.length <= MAX_LINE_LENGTH)
}
