/** Descriptions of skills that are longer than the Agent Skills specification allows. */
import { load, YAMLException } from 'js-yaml'
import { MAX_DESCRIPTION, YAML_LIMITS } from '../../../src/contracts.ts'

/** The key of a block mapping, with its value on the same line and on lines that are indented. */
const DESCRIPTION = /^description[ \t]*:.*\n(?:[ \t].*\n|\r?\n)*/m

/**
 * @param text of a SKILL.md.
 * @returns the text with the beginning of the description; undefined if the description is not too long.
 */
export function truncateDescription(text: string): string | undefined {
  const [lines] = DESCRIPTION.exec(text) ?? []
  const characters = [...(lines === undefined ? '' : readDescription(lines))]
  if (characters.length <= MAX_DESCRIPTION) return undefined
  const truncated = characters.slice(0, MAX_DESCRIPTION).join('').trimEnd()
  // A string of JSON is one of YAML.
  return text.replace(DESCRIPTION, () => `description: ${JSON.stringify(truncated)}\n`)
}

function readDescription(yaml: string): string {
  try {
    const { description } = load(yaml, YAML_LIMITS) as { description: unknown }
    return typeof description === 'string' ? description.trim() : ''
  } catch (error) {
    if (error instanceof YAMLException) return ''
    throw error
  }
}
