/**
 * Every operation: a request that succeeds, and the dearest inputs that are known. Each is made anew for each time that
 * it is sent, with what it needs, before the clock is read.
 */
import { v7 as newUuid } from 'uuid'
import { SCOPES } from '../src/access/scopes.ts'
import { BODY_LIMIT_BYTES as USUAL_LIMIT_BYTES } from '../src/http/body.ts'
import type { Contract } from '../src/http/contract.ts'
import { loadOperations } from '../src/operations.ts'
import { MAX_VARIABLES_PER_REQUEST } from '../src/resources/environment-variables/contract.ts'
import { inputPlacesOf, withText } from '../test/support/inputs.ts'
import type { BenchRequest } from './load.ts'
import { ALL_FIELDS_LISTED, rangesOnLeapDay } from './next-run.ts'
import {
  type Body,
  EVENT_ENDPOINT,
  FILE,
  type Filled,
  fill,
  json,
  newSkill,
  PICTURE,
  Place,
  RUN_ENDPOINT,
  skillText,
  times,
  USER,
} from './place.ts'
import type { WorkerServer } from './servers.ts'

/** What the requests are of. */
export interface Places {
  /** Has a hundred of each. */
  readonly usual: Filled
  /** Has as many of each as a page of a list may have. */
  readonly full: Filled
  /**
   * The n-th of many, for what there is once in an organization: its project, its sessions, the first of them
   * pinned.
   */
  other(index: number): Promise<Other>
  /** A new one, for what an organization has only a few of. */
  empty(): Promise<Place>
}

interface Other {
  readonly place: Place
  readonly sessions: readonly string[]
}

export const USUAL_COUNT = 100
const LARGEST_PAGE = 1000
const PINS_OF_OTHERS = 10

/** @param largest how many the full place has. Without, it is the usual one, and there is no request of the worst inputs. */
export async function openPlaces(server: WorkerServer, largest = LARGEST_PAGE): Promise<Places> {
  const others = new Map<number, Promise<Other>>()
  const open = async (): Promise<Other> => {
    const place = await Place.open(server)
    const projectId = await place.put('projects')
    const sessions: string[] = []
    for (let count = 0; count < PINS_OF_OTHERS; count++) {
      const id = await place.put('sessions', { projectId })
      await place.send('PUT', `/v1/pins/session/${id}`)
      sessions.push(id)
    }
    return { place, sessions: [...sessions, await place.put('sessions', { projectId })] }
  }
  const usual = await fill(await Place.open(server), USUAL_COUNT)
  return {
    usual,
    empty: () => Place.open(server),
    full: largest === USUAL_COUNT ? usual : await fill(await Place.open(server), largest),
    other(index) {
      const other = others.get(index) ?? open()
      others.set(index, other)
      return other
    },
  }
}

/** A request, without what the contract of its operation says. */
interface Asked extends Body {
  readonly place: Pick<Place, 'token'>
  readonly path: string
  readonly refusal?: number
}

type Ask = (places: Places, index: number) => Asked | Promise<Asked>

interface Asks {
  readonly typical: Ask
  /** By what it is. The longest headers and the bodies that are refused (below) come besides. */
  readonly worst?: Readonly<Record<string, Ask>>
}

const KIBIBYTE = 1024
const MEBIBYTE = KIBIBYTE * KIBIBYTE

/** A request of the usual place. */
const usual =
  (pathOf: (filled: Filled, index: number) => string, bodyOf: (index: number) => Body = () => ({})): Ask =>
  ({ usual }, index) => ({ place: usual.place, path: pathOf(usual, index), ...bodyOf(index) })

/** The largest page of a list in the full place. */
const largestPage = (pathOf: (filled: Filled) => string): Readonly<Record<string, Ask>> => ({
  '1,000 items': ({ full }) => ({ place: full.place, path: `${pathOf(full)}?limit=${LARGEST_PAGE}` }),
})

const at = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item

/** The life of a kind of platform resource. `fieldsOf` is what it is made with. */
function life(
  name: string,
  plural: string,
  kind: string,
  fieldsOf: (filled: Filled) => object = () => ({}),
): Record<string, Asks> {
  const add = ({ usual }: Places) => usual.place.put(kind, fieldsOf(usual))
  return {
    [`put${name}`]: {
      typical: ({ usual }) => ({
        place: usual.place,
        path: `/v1/${kind}/${newUuid()}`,
        ...json({ name: 'Bench', ...fieldsOf(usual) }),
      }),
    },
    [`retrieve${name}`]: {
      typical: async (places) => ({ place: places.usual.place, path: `/v1/${kind}/${await add(places)}` }),
    },
    [`list${plural}`]: { typical: usual(() => `/v1/${kind}`), worst: largestPage(() => `/v1/${kind}`) },
    [`delete${name}`]: {
      typical: async (places) => ({ place: places.usual.place, path: `/v1/${kind}/${await add(places)}` }),
    },
  }
}

const archiving = (name: string, kind: string): Record<string, Asks> => ({
  [`update${name}`]: {
    typical: async ({ usual: { place } }) => ({
      place,
      path: `/v1/${kind}/${await place.put(kind)}`,
      ...json({ archived: true }),
    }),
  },
})

/** The schedules of a kind of parent and their runs. `inZone` is what a schedule of it has besides its expression. */
function schedulesOf(
  name: 'Project' | 'Agent',
  kind: 'projects' | 'agents',
  characters: number,
  inZone: (timezone: string) => object,
): Record<string, Asks> {
  const schedules = `${name.toLowerCase()}Schedules` as 'projectSchedules' | 'agentSchedules'
  const paris = inZone('Europe/Paris')
  const typicalCron = (index: number) => json({ cron: `${index % 60} 9 * * 1-5`, ...paris })
  const worstCrons = {
    [`cron: ranges on 29 February, ${characters} characters`]: rangesOnLeapDay(characters),
    ...(ALL_FIELDS_LISTED.length <= characters && { 'cron: all five fields, listed': ALL_FIELDS_LISTED }),
  }
  const newParent = async ({ usual: { place } }: Places) => `/v1/${kind}/${await place.put(kind)}`
  const creating =
    (bodyOf: (index: number) => Body): Ask =>
    async (places, index) => ({
      place: places.usual.place,
      path: `${await newParent(places)}/schedules`,
      ...bodyOf(index),
    })
  const withWorstCrons = (askWith: (body: Body) => Ask) =>
    Object.fromEntries(
      Object.entries(worstCrons).map(([what, cron]) => [what, askWith(json({ cron, ...inZone('Antarctica/Troll') }))]),
    )
  const existing = (bodyOf: (index: number) => Body) => usual((filled, index) => at(filled[schedules], index), bodyOf)
  return {
    [`create${name}Schedule`]: {
      typical: creating(typicalCron),
      worst: withWorstCrons((body) => creating(() => body)),
    },
    [`list${name}Schedules`]: {
      typical: usual((filled) => `/v1/${kind}/${filled[kind][0]}/schedules`),
      worst: largestPage((filled) => `/v1/${kind}/${filled[kind][0]}/schedules`),
    },
    [`retrieve${name}Schedule`]: { typical: existing(() => ({})) },
    [`put${name}Schedule`]: {
      typical: existing((index) => json({ cron: `${index % 60} 9 * * 1-5`, ...paris, name: 'Nightly', payload: {} })),
      worst: {
        'a payload of 16 KiB': existing(() =>
          json({ cron: '0 6 * * *', ...paris, payload: 'x'.repeat(16 * 1024 - 2) }),
        ),
        'a payload of 5,000 numbers': existing(() =>
          json({ cron: '0 6 * * *', ...paris, payload: Array(5000).fill(1) }),
        ),
      },
    },
    [`update${name}Schedule`]: {
      // Another time than the schedule has.
      typical: existing((index) => json({ cron: `${index % 60} 8 * * 1-5`, ...paris })),
      worst: withWorstCrons((body) => existing(() => body)),
    },
    [`delete${name}Schedule`]: {
      typical: async (places) => {
        const { place } = places.usual
        return { place, path: await place.addSchedule(await newParent(places)) }
      },
    },
    [`list${name}ScheduleRuns`]: {
      typical: usual((filled) => `${filled[schedules][0]}/runs`),
      worst: largestPage((filled) => `${filled[schedules][0]}/runs`),
    },
    // Not the first, whose runs are listed.
    [`create${name}ScheduleRun`]: {
      typical: usual((filled, index) => `${filled[schedules][1 + (index % (USUAL_COUNT - 1))]}/runs`),
    },
  }
}

/** @param below the path of the deletion. */
function onDeletion(below = ''): Ask {
  return async ({ other }, index) => {
    const { place } = await other(index)
    return { place, path: (await place.addDeletion('agents')) + below }
  }
}

/** A place without a run endpoint, in which a run waits to be pulled. */
async function withWaitingRun({ other }: Places, index: number) {
  const { place } = await other(index)
  await place.addRun(await place.addSchedule(`/v1/agents/${await place.put('agents')}`))
  return place
}

const preview = (query: Record<string, string>) => usual(() => `/v1/schedule-preview?${new URLSearchParams(query)}`)

const MAX_FILES = 500
const LARGEST_SKILL_BYTES = 8 * MEBIBYTE
const LARGEST_SKILL_BODY_BYTES = 16 * MEBIBYTE
/** JSON writes it with six characters. */
const ESCAPED = '\u0001'
const BYTES_OF_ESCAPED = 6

/** The most files, with the longest names. */
function largestSkill(character: string, bytesOfFile: number): Body {
  const files = Array.from({ length: MAX_FILES - 1 }, (_, index) => ({
    filename: `${'f'.repeat(155)}/${`${index}`.padEnd(99, 'n')}`,
    // With their index, because equal contents are stored once.
    content: `${index}`.padEnd(bytesOfFile, character),
  }))
  const description = 'd'.repeat(1024)
  const entry = { filename: 'SKILL.md', content: skillText(newUuid(), '', description) }
  return {
    ...json({ files: [entry, ...files] }),
    headers: { 'idempotency-key': newUuid() },
  }
}

const LARGEST_SKILLS: Readonly<Record<string, () => Body>> = {
  '500 files, 8 MiB': () => largestSkill('n', Math.floor(LARGEST_SKILL_BYTES / MAX_FILES)),
  // With room for the rest of the body.
  '500 files, 16 MiB with escapes': () =>
    largestSkill(ESCAPED, Math.floor((LARGEST_SKILL_BODY_BYTES - 160 * KIBIBYTE) / MAX_FILES / BYTES_OF_ESCAPED)),
}

const ofLargestSkills = (askWith: (bodyOf: () => Body) => Ask) =>
  Object.fromEntries(Object.entries(LARGEST_SKILLS).map(([what, bodyOf]) => [what, askWith(bodyOf)]))

/** @param part of the path after the skill. */
const newLargestSkillAt =
  (part: string) =>
  (bodyOf: () => Body): Ask =>
  async ({ usual: { place } }) => ({
    place,
    path: `/v1/skills/${await place.send('POST', '/v1/skills', bodyOf())}${part}`,
  })
const newLargestSkill = newLargestSkillAt('')
const NEW_FEED = json({ name: 'Bench' })

const LARGEST_FILE = Buffer.alloc(95_000_000)
const LARGEST_PICTURE = Buffer.concat([PICTURE, Buffer.alloc(5 * MEBIBYTE - PICTURE.byteLength)])

const LARGEST_VALUE_BYTES = 64 * KIBIBYTE
/** The public key of a key pair that nobody has. */
const PUBLIC_KEY = '85fK1n5XY8EJE2hjyYDgPnuVh7GjLrOFVGPyJ1Cv8BE'

const variablesOf = async (place: Place) => `/v1/projects/${await place.put('projects')}/environment-variables`

/** The most variables at once. */
const largestVariables =
  (value: string): Ask =>
  async ({ usual: { place } }) => ({
    place,
    path: await variablesOf(place),
    ...json({
      variables: Array.from({ length: MAX_VARIABLES_PER_REQUEST }, (_, index) => ({
        key: `${'K'.repeat(250)}_${index}`,
        value,
      })),
    }),
    headers: { 'idempotency-key': newUuid() },
  })

/** A lease of the variables of a project, which `store` stores once: no lease changes them. */
function leaseOf(store: (place: Place, variables: string) => Promise<unknown>): Ask {
  const make = async (place: Place): Promise<Asked> => {
    const projectId = await place.put('projects')
    const variables = `/v1/projects/${projectId}/environment-variables`
    await store(place, variables)
    const scopes = ['environment-variables:lease']
    const token = await place.newKey({ name: 'bench', scopes, projectIds: [projectId] })
    return { place: { token }, path: `${variables}/lease`, ...json({ publicKey: PUBLIC_KEY }) }
  }
  let made: Promise<Asked> | undefined
  return ({ usual: { place } }) => {
    made ??= make(place)
    return made
  }
}

/** A project has up to 12 MiB of values, and a lease up to 16 MiB of JSON. */
const leaseOfLargest = (value: string, count: number) =>
  leaseOf((place, variables) =>
    times(count, (index) => place.send('PUT', `${variables}/KEY_${index}`, json({ value }))),
  )

const newKey = (place: Place) => place.send('POST', '/v1/api-keys', json({ name: 'bench', scopes: ['pins:read'] }))

const newRun = ({ usual: { place, projectSchedules } }: Places, index: number) =>
  place.addRun(projectSchedules[1 + (index % (USUAL_COUNT - 1))] ?? '')

const SIGN_IN_RULE = { issuer: 'https://login.example.com', claim: 'groups', value: 'engineers', role: 'viewer' }

function onNewSignInRule(body: Body = {}): Ask {
  return async ({ empty }) => {
    const place = await empty()
    return {
      place,
      path: `/v1/sign-in-rules/${await place.send('POST', '/v1/sign-in-rules', json(SIGN_IN_RULE))}`,
      ...body,
    }
  }
}

const newInvitation = () => {
  const { issuer, role } = SIGN_IN_RULE
  return json({ email: `${newUuid()}@example.com`, issuer, role })
}

function onNewIdentity(body: Body = {}): Ask {
  return async ({ empty }) => {
    const place = await empty()
    return { place, path: `/v1/identities/${await place.addIdentity()}`, ...body }
  }
}

const PICTURE_PATH = `/v1/users/${USER}/profile-picture`

const asks: Readonly<Record<string, Asks>> = {
  updatePin: {
    typical({ usual: { place, pinned } }, index) {
      // Knuth's multiplicative hash: nearly every placement is a move.
      const hash = Math.imul(index + 2, 2654435761) >>> 0
      const moved = hash % pinned.length
      const target = (moved + 1 + ((hash >>> 8) % (pinned.length - 1))) % pinned.length
      const position = hash % 2 === 0 ? 'before' : 'after'
      return {
        place,
        path: `/v1/pins/session/${pinned[moved]}`,
        ...json({ placement: { target: { type: 'session', id: pinned[target] }, position } }),
      }
    },
  },
  // The most pins that a user has are the usual ones.
  listPins: { typical: usual(() => '/v1/pins') },
  putPin: {
    async typical({ other }, index) {
      const { place, sessions } = await other(index)
      const path = `/v1/pins/session/${sessions[PINS_OF_OTHERS]}`
      await place.send('PUT', path)
      await place.send('DELETE', path)
      return { place, path }
    },
  },
  deletePin: {
    async typical({ other }, index) {
      const { place, sessions } = await other(index)
      const path = `/v1/pins/session/${sessions[PINS_OF_OTHERS]}`
      await place.send('PUT', path)
      return { place, path }
    },
  },

  retrieveMe: { typical: usual(() => '/v1/me') },
  createApiKey: {
    typical: usual(
      () => '/v1/api-keys',
      () => json({ name: 'bench', scopes: ['pins:read'] }),
    ),
    worst: {
      'all scopes, 100 projects': ({ usual: { place, projects } }) => ({
        place,
        path: '/v1/api-keys',
        ...json({ name: 'n'.repeat(255), scopes: SCOPES, projectIds: projects }),
      }),
      '64 KiB of unknown scopes': usual(
        () => '/v1/api-keys',
        () => ({ ...json({ name: 'bench', scopes: Array(32_700).fill(0) }), refusal: 400 }),
      ),
    },
  },
  listApiKeys: { typical: usual(() => '/v1/api-keys'), worst: largestPage(() => '/v1/api-keys') },
  deleteApiKey: {
    typical: async ({ usual: { place } }) => ({ place, path: `/v1/api-keys/${await newKey(place)}` }),
  },
  rotateApiKey: {
    typical: async ({ usual: { place } }) => ({
      place,
      path: `/v1/api-keys/${await newKey(place)}/rotate`,
      ...json({ overlapSeconds: 60 }),
    }),
  },
  createApiKeySession: {
    typical: async ({ empty }) => ({
      place: await empty(),
      path: '/v1/me/sessions',
      ...json({ expiresInSeconds: 60 }),
    }),
  },
  deleteOwnSessions: {
    async typical({ empty }) {
      const place = await empty()
      await place.send('POST', '/v1/me/sessions', json({ expiresInSeconds: 60 }))
      return { place, path: '/v1/me/sessions' }
    },
  },
  deleteOwnApiKey: {
    async typical({ usual: { place } }) {
      const token = await place.newKey({ name: 'bench', scopes: ['pins:read'] })
      return { place: { token }, path: '/v1/me/api-key' }
    },
  },
  deleteOwnApp: {
    async typical({ usual: { place } }) {
      const { path, token } = await place.addApp()
      return { place: { token }, path }
    },
  },
  createSignInRule: {
    typical: async ({ empty }) => ({
      place: await empty(),
      path: '/v1/sign-in-rules',
      ...json(SIGN_IN_RULE),
    }),
  },
  listSignInRules: { typical: usual(() => '/v1/sign-in-rules') },
  previewSignIn: {
    typical: usual(
      () => '/v1/sign-in-rules/preview',
      () => json({ issuer: SIGN_IN_RULE.issuer, claims: [{ claim: 'groups', value: 'engineers' }] }),
    ),
  },
  retrieveSignInRule: { typical: onNewSignInRule() },
  updateSignInRule: { typical: onNewSignInRule(json({ value: 'admins' })) },
  deleteSignInRule: { typical: onNewSignInRule() },
  createInvitation: {
    typical: async ({ empty }) => ({
      place: await empty(),
      path: '/v1/invitations',
      ...newInvitation(),
    }),
  },
  listInvitations: { typical: usual(() => '/v1/invitations') },
  deleteInvitation: {
    async typical({ empty }) {
      const place = await empty()
      return { place, path: `/v1/invitations/${await place.send('POST', '/v1/invitations', newInvitation())}` }
    },
  },
  listIdentities: { typical: usual(() => '/v1/identities') },
  retrieveIdentity: { typical: onNewIdentity() },
  updateIdentity: { typical: onNewIdentity(json({ blocked: true })) },
  deleteIdentity: { typical: onNewIdentity() },
  listEvents: { typical: usual(() => '/v1/events'), worst: largestPage(() => '/v1/events') },
  createEventEndpoint: {
    typical: async ({ empty }) => {
      const place = await empty()
      return { place, path: '/v1/event-endpoints', ...EVENT_ENDPOINT }
    },
  },
  listEventEndpoints: { typical: usual(() => '/v1/event-endpoints') },
  retrieveEventEndpoint: { typical: usual(({ eventEndpoint }) => eventEndpoint) },
  updateEventEndpoint: {
    typical: usual(
      ({ eventEndpoint }) => eventEndpoint,
      (index) => json({ note: `Bench ${index}` }),
    ),
  },
  deleteEventEndpoint: {
    typical: async ({ empty }) => {
      const place = await empty()
      return { place, path: await place.addEventEndpoint() }
    },
  },
  rotateEventEndpoint: {
    typical: usual(
      ({ eventEndpoint }) => `${eventEndpoint}/rotate`,
      () => json({ overlapSeconds: 0 }),
    ),
  },
  testEventEndpoint: { typical: usual(({ eventEndpoint }) => `${eventEndpoint}/test`) },
  rewindEventEndpoint: {
    typical: usual(
      ({ eventEndpoint }) => `${eventEndpoint}/rewind`,
      () => json({ after: 'now' }),
    ),
  },
  listAuditEvents: { typical: usual(() => '/v1/audit-events'), worst: largestPage(() => '/v1/audit-events') },

  ...life('Project', 'Projects', 'projects'),
  ...archiving('Project', 'projects'),
  ...life('Agent', 'Agents', 'agents'),
  ...archiving('Agent', 'agents'),
  ...life('Session', 'Sessions', 'sessions', ({ projects }) => ({ projectId: projects[0] })),
  ...life('PullRequest', 'PullRequests', 'pull-requests', ({ projects }) => ({ projectId: projects[0] })),
  ...life('User', 'Users', 'users'),

  ...schedulesOf('Project', 'projects', 255, (timezone) => ({ timezone })),
  ...schedulesOf('Agent', 'agents', 500, () => ({})),
  previewSchedule: {
    typical: preview({ cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' }),
    worst: {
      '100 runs of ranges on 29 February, 500 characters': preview({
        cron: rangesOnLeapDay(500),
        timezone: 'Antarctica/Troll',
        from: '2096-03-01T00:00:00.000Z',
        count: '100',
      }),
      '100 runs of all five fields, listed': preview({
        cron: ALL_FIELDS_LISTED,
        timezone: 'Antarctica/Troll',
        count: '100',
      }),
    },
  },
  listSchedules: { typical: usual(() => '/v1/schedules'), worst: largestPage(() => '/v1/schedules') },
  listRuns: { typical: usual(() => '/v1/runs'), worst: largestPage(() => '/v1/runs') },
  retrieveRun: { typical: usual(({ runs }, index) => at(runs, index)) },
  acknowledgeRun: {
    typical: async (places, index) => ({
      place: places.usual.place,
      path: `/v1/runs/${await newRun(places, index)}/acknowledge`,
    }),
  },
  claimRuns: {
    typical: async (places, index) => ({
      place: await withWaitingRun(places, index),
      path: '/v1/runs/claim',
      ...json({ leaseSeconds: 60 }),
    }),
  },
  redeliverRun: {
    typical: async (places, index) => ({
      place: places.usual.place,
      path: `/v1/runs/${await newRun(places, index)}/redeliver`,
    }),
  },
  renewRun: {
    async typical(places, index) {
      const place = await withWaitingRun(places, index)
      const { id, claimId } = await place.claimRun()
      return { place, path: `/v1/runs/${id}/renew`, ...json({ claimId, leaseSeconds: 60 }) }
    },
  },
  completeRun: {
    typical: async (places, index) => ({
      place: places.usual.place,
      path: `/v1/runs/${await newRun(places, index)}/complete`,
      ...json({ outcome: 'succeeded', message: 'Built 14 pages.' }),
    }),
  },

  putRunEndpoint: {
    typical: usual(
      () => '/v1/run-endpoint',
      (index) => json({ url: `https://receiver.example.com/${index}` }),
    ),
    worst: {
      'the longest URL': usual(
        () => '/v1/run-endpoint',
        () => json({ url: `https://receiver.example.com/${'ä'.repeat(1970)}` }),
      ),
    },
  },
  retrieveRunEndpoint: { typical: usual(() => '/v1/run-endpoint') },
  rotateRunEndpoint: {
    typical: usual(
      () => '/v1/run-endpoint/rotate',
      () => json({ overlapSeconds: 0 }),
    ),
  },
  deleteRunEndpoint: {
    async typical({ other }, index) {
      const { place } = await other(index)
      await place.send('PUT', '/v1/run-endpoint', RUN_ENDPOINT)
      return { place, path: '/v1/run-endpoint' }
    },
  },

  listSessionFiles: {
    typical: usual(({ sessions }) => `/v1/sessions/${sessions[0]}/files`),
    worst: largestPage(({ sessions }) => `/v1/sessions/${sessions[0]}/files`),
  },
  searchSessionFiles: {
    typical: usual(({ sessions }) => `/v1/session-files?sessionId=${sessions[0]}&query=src`),
    worst: {
      '1,000 items, of which none matches': ({ full }) => ({
        place: full.place,
        path: `/v1/session-files?limit=${LARGEST_PAGE}&query=${'x'.repeat(255)}`,
      }),
    },
  },
  // Not into the first, whose files are listed.
  putSessionFile: {
    typical: usual(
      ({ sessions }) => `/v1/sessions/${sessions[1]}/files?path=${newUuid()}.ts`,
      () => ({ body: FILE }),
    ),
    worst: {
      '95 MB': usual(
        ({ sessions }) => `/v1/sessions/${sessions[1]}/files?path=${'p'.repeat(1000)}`,
        () => ({ body: LARGEST_FILE }),
      ),
    },
  },
  retrieveSessionFile: { typical: usual(({ files }, index) => at(files, index)) },
  retrieveSessionFileContent: {
    typical: usual(({ files }, index) => `${at(files, index)}/content`),
    worst: {
      async '95 MB'({ usual: { place, sessions } }) {
        const files = `/v1/sessions/${sessions[1]}/files`
        const id = await place.send('PUT', `${files}?path=largest`, { body: LARGEST_FILE })
        return { place, path: `${files}/${id}/content` }
      },
    },
  },
  deleteSessionFile: {
    typical: async ({ usual: { place, sessions } }) => ({
      place,
      path: await place.addFile(sessions[1] ?? ''),
    }),
  },

  retrieveSkill: {
    typical: usual(({ skills }, index) => `/v1/skills/${at(skills, index)}`),
    worst: ofLargestSkills(newLargestSkill),
  },
  listSkills: { typical: usual(() => '/v1/skills'), worst: largestPage(() => '/v1/skills') },
  createSkill: {
    typical: usual(
      () => '/v1/skills',
      () => json(newSkill()),
    ),
    worst: ofLargestSkills((bodyOf) => usual(() => '/v1/skills', bodyOf)),
  },
  updateSkill: {
    typical: usual(
      ({ skills }, index) => `/v1/skills/${at(skills, index)}`,
      () => json({ files: newSkill().files }),
    ),
    worst: ofLargestSkills((bodyOf) => usual(({ skills }) => `/v1/skills/${skills[0]}`, bodyOf)),
  },
  listSkillVersions: { typical: usual(({ skills }, index) => `/v1/skills/${at(skills, index)}/versions`) },
  retrieveSkillVersion: {
    typical: usual(({ skills }, index) => `/v1/skills/${at(skills, index)}/versions/1`),
    worst: ofLargestSkills(newLargestSkillAt('/versions/1')),
  },
  publishSkillVersion: {
    typical: async ({ usual: { place } }) => {
      const skill = `/v1/skills/${await place.send('POST', '/v1/skills', json(newSkill()))}`
      await place.send('PATCH', skill, json({ files: newSkill().files }))
      return { place, path: `${skill}/publish`, ...json({ version: 1 }) }
    },
  },
  retrieveSkillArchive: {
    typical: usual(({ skills }, index) => `/v1/skills/${at(skills, index)}/archive`),
    worst: ofLargestSkills(newLargestSkillAt('/archive')),
  },
  // An organization has up to 100 feeds, so each request has an organization of its own.
  createSkillFeed: {
    typical: async (places, index) => {
      const { place } = await places.other(index)
      return { place, path: '/v1/skill-feeds', ...NEW_FEED }
    },
  },
  listSkillFeeds: { typical: usual(() => '/v1/skill-feeds') },
  deleteSkillFeed: {
    typical: async (places, index) => {
      const { place } = await places.other(index)
      return { place, path: `/v1/skill-feeds/${await place.send('POST', '/v1/skill-feeds', NEW_FEED)}` }
    },
  },
  listDeletions: { typical: usual(() => '/v1/deletions') },
  retrieveDeletion: { typical: onDeletion() },
  restoreDeletion: { typical: onDeletion('/restore') },
  purgeDeletion: { typical: onDeletion() },
  deleteSkill: {
    typical: async ({ usual: { place } }) => ({
      place,
      path: `/v1/skills/${await place.send('POST', '/v1/skills', json(newSkill()))}`,
    }),
    worst: ofLargestSkills(newLargestSkill),
  },

  putProfilePicture: {
    typical: usual(
      () => PICTURE_PATH,
      () => ({ body: PICTURE }),
    ),
    worst: {
      '5 MiB': usual(
        () => PICTURE_PATH,
        () => ({ body: LARGEST_PICTURE }),
      ),
    },
  },
  retrieveProfilePicture: {
    typical: usual(() => PICTURE_PATH),
    worst: {
      async '5 MiB'({ other }, index) {
        const { place } = await other(index)
        await place.send('PUT', PICTURE_PATH, { body: LARGEST_PICTURE })
        return { place, path: PICTURE_PATH }
      },
    },
  },
  deleteProfilePicture: {
    async typical({ other }, index) {
      const { place } = await other(index)
      await place.send('PUT', PICTURE_PATH, { body: PICTURE })
      return { place, path: PICTURE_PATH }
    },
  },

  listEnvironmentVariables: {
    typical: usual(({ projects }) => `/v1/projects/${projects[0]}/environment-variables`),
    worst: largestPage(({ projects }) => `/v1/projects/${projects[0]}/environment-variables`),
  },
  putEnvironmentVariable: {
    typical: async ({ usual: { place } }) => ({
      place,
      path: `${await variablesOf(place)}/DATABASE_URL`,
      ...json({ value: 'postgres://app@db.internal/shop' }),
    }),
    worst: {
      '64 KiB, escaped': async ({ usual: { place } }) => ({
        place,
        path: `${await variablesOf(place)}/DATABASE_URL`,
        ...json({ value: ESCAPED.repeat(LARGEST_VALUE_BYTES) }),
      }),
    },
  },
  setEnvironmentVariables: {
    typical: async ({ usual: { place } }) => ({
      place,
      path: await variablesOf(place),
      ...json({
        variables: Array.from({ length: 10 }, (_, index) => ({ key: `KEY_${index}`, value: 'value' })),
      }),
    }),
    worst: {
      '100 variables of 64 KiB': largestVariables('v'.repeat(LARGEST_VALUE_BYTES)),
      '100 variables, 8 MiB with escapes': largestVariables(ESCAPED.repeat(13_900)),
    },
  },
  leaseEnvironmentVariables: {
    typical: leaseOf((place, variables) =>
      place.send(
        'POST',
        variables,
        json({
          variables: Array.from({ length: 10 }, (_, index) => ({ key: `KEY_${index}`, value: 'value' })),
        }),
      ),
    ),
    worst: {
      '12 MiB': leaseOfLargest('v'.repeat(LARGEST_VALUE_BYTES), 192),
      '12 MiB that are not Latin-1': leaseOfLargest(`${'\u65e5'.repeat(21_845)}v`, 192),
      '16 MiB with escapes': leaseOfLargest('vv"'.repeat(LARGEST_VALUE_BYTES / 3), 191),
    },
  },
  deleteEnvironmentVariable: {
    async typical({ usual: { place } }) {
      const path = `${await variablesOf(place)}/DATABASE_URL`
      await place.send('PUT', path, json({ value: 'postgres://app@db.internal/shop' }))
      return { place, path }
    },
  },
}

/** A little below what the service lets pass: 16 KiB of names and values. */
const HEADERS_BYTES = 15 * KIBIBYTE
/** A little below what Cloudflare lets pass: 16 KB of a URL. */
const QUERY_BYTES = 14_000

const MAX_HEADERS_LENGTH = Object.fromEntries(
  Array.from({ length: HEADERS_BYTES / 5 }, (_, index) => [`x${index.toString(36).padStart(4, '0')}`, '']),
)

/** A query with as many parameters as there is room for. */
const MAX_QUERY_LENGTH = '&a'.repeat(QUERY_BYTES / 2)

/** The most values that a body may have. */
const MAX_VALUES = 99_000

/** A body of so many bytes with so many unknown names. */
function unknownNames(bytes: number, count: number): string {
  const length = Math.floor(bytes / count) - '"":0,'.length
  const properties = Array.from({ length: count - 1 }, (_, index) => `"${index.toString(36).padStart(length, 'a')}":0`)
  return `{${properties.join()}}`
}

/** Bodies of so many bytes that are refused: what costs the most before anything is asked of the database. */
const REFUSED_BODIES: Readonly<Record<string, (bytes: number) => string>> = {
  'nested arrays': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  // Decoded, each of its characters has two bytes.
  'text with one character that is not Latin-1': (bytes) => `{"\u65e5":"${'x'.repeat(bytes - 10)}"}`,
  'empty arrays': (bytes) => `[${'[],'.repeat(bytes / 3 - 2)}[]]`,
  'unknown names': (bytes) => unknownNames(bytes, Math.floor(bytes / 11)),
  'as many unknown names as values are allowed': (bytes) =>
    unknownNames(bytes, Math.min(MAX_VALUES, Math.floor(bytes / 11))),
}

/** More than the rest of a body has beside a hostile text. */
const REST_OF_BODY = 16 * KIBIBYTE

/** In place of each string, of so many bytes: what costs the most to normalize, and what to match. */
const HOSTILE_TEXTS: Readonly<Record<string, (bytes: number) => string>> = {
  // More would take minutes where text is normalized before its length is checked.
  'combining marks': (bytes) => '\u0323\u0307'.repeat(Math.min(bytes, 200_000) / 4),
  'hyphenated letters': (bytes) => 'a-'.repeat(bytes / 2),
}

export interface MeasuredOperation {
  readonly name: string
  readonly typical: (places: Places, index: number) => Promise<BenchRequest>
  readonly worst: ReadonlyMap<string, MeasuredOperation['typical']>
}

/** @throws if an operation of the service is missing here, or the other way round. */
export async function everyOperation(): Promise<MeasuredOperation[]> {
  const endpoints = await loadOperations()
  const names = endpoints.map(({ contract }) => contract.operationId)
  const strange = Object.keys(asks).filter((name) => !names.includes(name))
  if (strange.length > 0) throw new Error(`The service has no ${strange}`)
  return endpoints.map(({ contract }) => {
    const ask = asks[contract.operationId]
    if (!ask) throw new Error(`There is no request of ${contract.operationId}`)
    const requestOf =
      (ask: Ask): MeasuredOperation['typical'] =>
      async (places, index) => {
        const { place, ...request } = await ask(places, index)
        return { method: contract.method, token: place.token, ...request }
      }
    const worst = { ...ask.worst, ...worstOfAll(ask.typical, contract) }
    return {
      name: contract.operationId,
      typical: requestOf(ask.typical),
      worst: new Map(Object.entries(worst).map(([what, ask]) => [what, requestOf(ask)])),
    }
  })
}

function worstOfAll(typical: Ask, contract: Contract): Record<string, Ask> {
  const { body, bodyLimitBytes = USUAL_LIMIT_BYTES } = contract
  const longest: Ask = async (places, index) => {
    const asked = await typical(places, index)
    const path = `${asked.path}${asked.path.includes('?') ? '' : '?'}${MAX_QUERY_LENGTH}`
    return { ...asked, path, headers: { ...MAX_HEADERS_LENGTH, ...asked.headers }, refusal: 400 }
  }
  const refused = Object.entries(body ? REFUSED_BODIES : {}).map(([what, bodyOf]): [string, Ask] => {
    const text = bodyOf(bodyLimitBytes)
    return [
      `${sizeOf(bodyLimitBytes)} of ${what}`,
      async (places, index) => ({ ...(await typical(places, index)), body: text, refusal: 400 }),
    ]
  })
  return {
    'the longest headers and query': longest,
    ...Object.fromEntries(refused),
    ...hostileTexts(typical, contract),
  }
}

/** For each string of the input but headers, requests with a hostile text in its place. */
function hostileTexts(typical: Ask, contract: Contract): Record<string, Ask> {
  const { bodyLimitBytes = USUAL_LIMIT_BYTES } = contract
  // Any text is right as the content of a file.
  const strings = inputPlacesOf(contract).filter(
    ({ kind, part, path }) => kind === 'string' && part !== 'headers' && path.at(-1) !== 'content',
  )
  const asks = strings.flatMap((place) =>
    Object.entries(HOSTILE_TEXTS).map(([what, textOf]): [string, Ask] => {
      // Percent-encoding makes three bytes of one.
      const text = textOf(place.part === 'body' ? bodyLimitBytes - REST_OF_BODY : QUERY_BYTES / 3)
      return [
        `${what} as ${place.path.join('.')}`,
        async (places, index) => {
          const { body, ...asked } = await typical(places, index)
          const isJson = typeof body === 'string'
          const { json, ...hostile } = withText(
            { ...asked, json: isJson ? JSON.parse(body) : undefined },
            contract,
            place,
            text,
          )
          return {
            ...hostile,
            ...(body !== undefined && { body: isJson ? JSON.stringify(json) : body }),
            refusal: 400,
          }
        },
      ]
    }),
  )
  return Object.fromEntries(asks)
}

function sizeOf(bytes: number): string {
  return bytes < MEBIBYTE ? `${Math.floor(bytes / KIBIBYTE)} KiB` : `${Math.floor(bytes / MEBIBYTE)} MiB`
}
