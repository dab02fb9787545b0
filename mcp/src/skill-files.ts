/** The files of a skill, as `GET /v1/skills/{skillId}` returns them. */
import * as z from 'zod/mini'
import {
  boundedString,
  describeProblem,
  describeSent,
  docs,
  ENTRY_FILE,
  type listSkillsContract,
  retrieveSkillContract,
  skillName,
} from '../../src/contracts.ts'
import { type Answer, type Api, ApiFailure } from './api.ts'
import { type Data, withinLimit } from './output.ts'
import type { Input, Wrong } from './tool.ts'

export type Skill = Answer<typeof retrieveSkillContract>

/** What the content of a file that is not text begins with. */
const BINARY = 'data:application/octet-stream;base64,'

/** @returns the text of a file, or its bytes if it is not text. */
export function toContent({ content }: Skill['files'][number]): string | Uint8Array {
  return content.startsWith(BINARY) ? Buffer.from(content.slice(BINARY.length), 'base64') : content
}

const OFFSET = 'a whole number of characters, at least 0'
const FILENAME_LENGTH = 255

export const loadProperties = {
  skillId: z.optional(retrieveSkillContract.params.shape.skillId),
  name: z.optional(skillName()),
  filename: z._default(
    boundedString(2 * FILENAME_LENGTH, {
      wrong: 'is too long',
      allowed: `up to ${FILENAME_LENGTH} characters`,
    }),
    ENTRY_FILE,
  ),
  offset: z
    ._default(z.int(OFFSET).check(z.minimum(0, OFFSET)), 0)
    .register(docs, { description: 'The first character to return; the `nextOffset` of a result reads on.' }),
}

/** @returns the input with the ID of the skill that has its name. */
export async function withSkillId(input: Input, api: Api): Promise<Input | Wrong> {
  const { skillId, name } = input
  if ((skillId === undefined) === (name === undefined)) {
    return `skillId and name are both ${name === undefined ? 'missing' : 'given'}; allowed: one of them.`
  }
  if (name === undefined) return input
  const { items } = await api.json<Answer<typeof listSkillsContract>>(`/v1/skills?name=${name}`)
  if (items[0]) return { ...input, skillId: items[0].id }
  throw ApiFailure.notFound(`The organization has no skill with the name ${describeSent(name)}.`, 'skill_not_found')
}

/** Enough for the filenames of nearly all skills, and little enough to leave room for a content. */
const FILENAMES_BYTES = 15_000

export async function loadSkill(response: Response, input: Input): Promise<Data | Wrong> {
  const { filename, offset } = input as { filename: string; offset: number }
  const { id, name, description, updatedAt, files }: Skill = await response.json()
  const names = shownNames(files.map((file) => file.filename))
  const known = { id, name, description, updatedAt, ...names }
  const file = files.find((each) => each.filename === filename)
  if (!file) {
    return describeProblem('filename', {
      wrong: 'is not a file of the skill',
      sent: describeSent(filename),
      allowed: names.filenames.join(', '),
    })
  }
  const rest = file.content.slice(offset)
  return withinLimit(rest.length, (length) => {
    const content = rest.slice(0, wholeCharacters(rest, length))
    const end = offset + content.length
    const isWhole = end >= file.content.length
    return {
      ...known,
      filename,
      content,
      nextOffset: isWhole ? null : end,
      ...(!isWhole && {
        note: `The file continues: call again with this filename and offset ${end}.`,
      }),
    }
  })
}

/** The length without half of a surrogate pair at its end. */
function wholeCharacters(text: string, length: number): number {
  const splitsPair = length < text.length && /[\ud800-\udbff]/.test(text[length - 1] ?? '')
  return splitsPair && length > 1 ? length - 1 : length
}

function shownNames(names: readonly string[]): { filenames: readonly string[]; filenameCount?: number } {
  let bytes = 0
  const shown = names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= FILENAMES_BYTES
  })
  return { filenames: shown, ...(shown.length < names.length && { filenameCount: names.length }) }
}
