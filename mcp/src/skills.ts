/**
 * The skills of the organization as resources, by the Skills extension (SEP-2640). Their URIs are
 * `skill://{skillId}/{name}/{filename}`: with the ID, a resource is one request to the API.
 */
import { ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server'
import {
  type Skill as Entry,
  type SkillSource,
  SkillsExtension,
  skillEntry,
} from '@modelcontextprotocol/server/ext/skills'
import { ENTRY_FILE, isUuid, type listSkillsContract } from '../../src/contracts.ts'
import { type Answer, type Api, ApiFailure } from './api.ts'
import { type Skill, toContent } from './skill-files.ts'

type SkillPage = Answer<typeof listSkillsContract>

/** An entry has the digest of each file, so each skill of a page is retrieved. A skill has up to 8 MiB. */
const PAGE_SIZE = 5

/** In `resources/list`, which has one page. */
const LISTED = 50

const MISSING = 404

export function skillsExtension(api: Api): SkillsExtension {
  return new SkillsExtension({ source: sourceOf(api), onWarning: () => undefined })
}

function sourceOf(api: Api): SkillSource {
  return {
    async list({ cursor }) {
      const page = await listed(api, PAGE_SIZE, cursor)
      const skills: Entry[] = []
      // One after the other: an isolate has 128 MB of memory.
      for (const { id } of page.items) {
        const entry = await entryOf(await retrieved(api, id))
        if (entry) skills.push(entry)
      }
      return { skills, ...(page.nextCursor !== null && { nextCursor: page.nextCursor }) }
    },
    async get(uri) {
      const [skill, filename] = await found(api, uri)
      return filename === ENTRY_FILE ? entryOf(skill) : undefined
    },
    async read(uri) {
      const [skill, filename] = await found(api, uri)
      const file = skill?.files.find((each) => each.filename === filename)
      if (!file) return undefined
      const content = toContent(file)
      const mimeType = filename?.endsWith('.md') ? { mimeType: 'text/markdown' } : {}
      return typeof content === 'string' ? { text: content, ...mimeType } : { bytes: content }
    },
    async listResources() {
      const { items } = await listed(api, LISTED)
      return items.map(({ id, name, description }): Resource => {
        const uri = `skill://${id}/${name}/${ENTRY_FILE}`
        return { uri, name, description, mimeType: 'text/markdown' }
      })
    },
  }
}

async function listed(api: Api, limit: number, cursor?: string): Promise<SkillPage> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) })
  return answered(api.json<SkillPage>(`/v1/skills?${query}`))
}

/** @returns the skill that the URI names, and the filename; nothing if there is none. */
async function found(api: Api, uri: string): Promise<[skill?: Skill, filename?: string]> {
  const { host: id, pathname } = new URL(uri)
  const segments = decoded(pathname.split('/').slice(1))
  if (!segments) return []
  const [name, ...path] = segments
  const skill = isUuid(id) ? await retrieved(api, id) : undefined
  return skill && skill.name === name ? [skill, path.join('/')] : []
}

/** @returns undefined if one is not percent-encoded UTF-8. */
function decoded(segments: readonly string[]): string[] | undefined {
  try {
    return segments.map(decodeURIComponent)
  } catch {
    return undefined
  }
}

/** @returns undefined if there is no such skill. */
async function retrieved(api: Api, id: string): Promise<Skill | undefined> {
  try {
    return await api.json<Skill>(`/v1/skills/${id}`)
  } catch (error) {
    if (error instanceof ApiFailure && error.status === MISSING) return undefined
    return answered(Promise.reject(error))
  }
}

/** @returns undefined if the front matter is beyond the YAML that the extension reads. Tools load such a skill. */
async function entryOf(skill: Skill | undefined): Promise<Entry | undefined> {
  if (!skill) return undefined
  const files = Object.fromEntries(skill.files.map((file) => [file.filename, toContent(file)]))
  return skillEntry(`${skill.id}/${skill.name}`, files).catch(() => undefined)
}

/** A failure of the API as an error of the protocol, with its sentence. */
export async function answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    const { message, code, status } = error
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, { code, status })
  }
}
