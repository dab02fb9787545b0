/**
 * The YAML front matter of SKILL.md. Imported on first use only, by the operations that change a skill: the YAML parser
 * is a large part of the bundle.
 */
import { load, YAMLException } from 'js-yaml'
import * as z from 'zod/mini'
import type { Problem } from '../../errors.ts'
import { describeProblem, describeProblems, describeSent } from '../../http/problems.ts'
import { skillDescription, skillName } from './fields.ts'

export interface FrontMatter {
  readonly name: string
  /** Without white space at either end, which block scalars have. */
  readonly description: string
}

export interface FrontMatterProblem {
  /** In the file, from 1. */
  readonly line: number
  /** A sentence that begins with the file and the line. */
  readonly message: string
}

/** In UTF-16 units, with both lines of hyphens. */
const MAX_LENGTH = 16 * 1024
/**
 * js-yaml takes time in proportion to the length within these limits. Aliases share their values and are not expanded.
 */
export const YAML_LIMITS = { maxDepth: 32, maxAliases: 100 }

/** No white space after the hyphens: installers do not recognize such a line. */
const OPENING = /^\ufeff?---\r?\n/
const CLOSING = /\n---[ \t]*\r?\n/

const SHAPE = 'a first line "---", YAML with name and description, and a line "---"'

const fields = z.object({ name: skillName(), description: skillDescription() })

/** @param text of SKILL.md. */
export function readFrontMatter(text: string): FrontMatter | FrontMatterProblem {
  const isLong = text.length > MAX_LENGTH
  // The file may end after the hyphens.
  const head = isLong ? text.slice(0, MAX_LENGTH) : `${text}\n`
  const [opening] = OPENING.exec(head) ?? []
  if (opening === undefined) {
    const [firstLine = ''] = /(?<=^\ufeff?).*/.exec(head) ?? []
    return problemOf(1, { wrong: 'is missing', sent: describeSent(firstLine), allowed: SHAPE })
  }
  const rest = head.slice(opening.length - 1)
  const end = rest.search(CLOSING)
  if (end < 0) {
    return problemOf(1, {
      wrong: isLong ? 'is too long or does not end' : 'does not end',
      allowed: `a line "---" within ${MAX_LENGTH} characters`,
    })
  }
  const yaml = rest.slice(1, end + 1)
  const parsed = parseYaml(yaml)
  if ('message' in parsed) return parsed
  const { value } = parsed
  if (Object(value) !== value || Array.isArray(value)) {
    return problemOf(2, {
      wrong: 'is not a mapping',
      sent: describeSent(value),
      allowed: 'one "key: value" on each line, with the keys name and description',
    })
  }
  return checkFields(value as Partial<Record<keyof FrontMatter, unknown>>, yaml)
}

function parseYaml(yaml: string): { value: unknown } | FrontMatterProblem {
  try {
    return { value: load(yaml, YAML_LIMITS) }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return problemOf((error.mark?.line ?? 0) + 2, {
      wrong: `is not valid YAML (${reasonOf(error)})`,
      allowed: `YAML 1.2 of up to ${YAML_LIMITS.maxDepth} levels and ${YAML_LIMITS.maxAliases} aliases`,
      advice: 'Put quotes around a value that contains ": " or " #".',
    })
  }
}

/** Without what the parser repeats of the text. */
function reasonOf({ reason }: YAMLException): string {
  return reason.replace(/:? (?:["!]|tag name).*$/s, '')
}

function checkFields(
  { name, description }: Partial<Record<keyof FrontMatter, unknown>>,
  yaml: string,
): FrontMatter | FrontMatterProblem {
  const data = { name, description: typeof description === 'string' ? description.trim() : description }
  const result = fields.safeParse(data)
  if (result.success) return result.data
  const [issue] = result.error.issues as [z.core.$ZodIssue]
  const message = describeProblems([issue], { schema: fields, data, isSecret: false })
  return problemAt(lineOf(issue.path[0] as keyof FrontMatter, yaml), message)
}

/** The line of a key; that of the opening hyphens if there is no such line. */
function lineOf(key: keyof FrontMatter, yaml: string): number {
  const index = yaml.search(new RegExp(`^(["']?)${key}\\1[ \\t]*:`, 'm'))
  return index < 0 ? 1 : yaml.slice(0, index).split(/\r\n|[\r\n]/).length + 1
}

function problemOf(line: number, problem: Problem): FrontMatterProblem {
  return problemAt(line, describeProblem('front matter', problem))
}

function problemAt(line: number, sentence: string): FrontMatterProblem {
  return { line, message: `SKILL.md, line ${line}: ${sentence}` }
}
