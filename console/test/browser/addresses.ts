/** An address of each route of the console, for the tests of all pages: a page that is new has to be here. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../../test/support/commands.ts'
import type { Console } from '../console.ts'
import { senderOf } from './people.ts'

interface Addressed {
  readonly address: string
  /** The heading with the data of the page. Without it, the page is not in the frame of the others. */
  readonly heading?: RegExp
  /** A field of the page for text, after the buttons that open it. */
  readonly field?: readonly [...buttons: string[], label: string]
  /** True if it shows nothing that anybody stored. */
  readonly isOwn?: boolean
}

export interface FramedPage extends Addressed {
  readonly path: string
  readonly heading: RegExp
}

/**
 * @param apiKey may read everything that they show.
 * @throws if a route is not here, or one that is here does not exist.
 */
export async function addressesOf(
  running: Console,
  apiKey: string,
): Promise<readonly (Addressed & { readonly path: string })[]> {
  const { demo } = running
  const send = senderOf(demo.baseUrl, apiKey)
  const me = await send<{ apiKey: { id: string } }>('GET', '/v1/me')
  const idOf = async (path: string) => (await send<{ items: { id: string }[] }>('GET', path)).items[0]?.id ?? ''
  const addresses: Readonly<Record<string, Addressed>> = {
    '/': { address: '/', heading: /^Today$/ },
    '/schedules': { address: '/schedules', heading: /^Schedules$/, field: ['New schedule', 'Name'] },
    '/$parents/$parentId/schedules/$scheduleId': {
      address: `/agents/${demo.agentId}/schedules/${await idOf('/v1/schedules?query=Triage')}`,
      heading: /^Triage/,
      field: ['Edit', 'Name'],
    },
    '/runs': { address: '/runs', heading: /^Runs$/ },
    '/runs/$runId': { address: `/runs/${await idOf('/v1/runs?status=failed&limit=1')}`, heading: /^(?!Run$)/ },
    '/pins': { address: '/pins', heading: /^Pins$/ },
    '/sessions': { address: '/sessions', heading: /^Sessions$/, field: ['Search by name'] },
    '/sessions/$sessionId': { address: `/sessions/${demo.sessionId}`, heading: /^(?!Session$)/ },
    '/skills': { address: '/skills', heading: /^Skills$/, field: ['Search by name'] },
    '/skills/$skillId': { address: `/skills/${demo.skillId}`, heading: /^(?!Skill$)/ },
    '/skills/new': { address: '/skills/new', heading: /^New skill$/, field: ['What changed'], isOwn: true },
    '/skills/$skillId/edit': {
      address: `/skills/${demo.skillId}/edit`,
      heading: /^Edit (?!skill$)/,
      field: ['What changed'],
    },
    '/skills/feeds': { address: '/skills/feeds', heading: /^Feeds of skills$/, field: ['New feed', 'Name'] },
    '/activity': { address: '/activity', heading: /^Activity$/ },
    '/variables': {
      address: `/variables?project=${demo.projectId}`,
      heading: /^Variables$/,
      field: ['New variable', 'Name'],
    },
    '/keys': { address: '/keys', heading: /^Keys$/, field: ['New key', 'Name'] },
    '/keys/$keyId': { address: `/keys/${me.apiKey.id}`, heading: /^(?!Key$)/ },
    '/people': { address: '/people', heading: /^People$/, field: ['New person', 'Name'] },
    '/people/sign-in': { address: '/people/sign-in', heading: /^People$/, field: ['Invite', 'E-mail address'] },
    '/people/identities/$identityId': {
      address: `/people/identities/${await idOf('/v1/identities')}`,
      heading: /./,
    },
    '/people/$kind/$id': {
      address: `/people/users/${demo.userId}`,
      heading: /^Ada /,
      field: ['Rename', 'Name'],
    },
    '/endpoints': { address: '/endpoints', heading: /^Endpoints$/, field: ['New event endpoint', 'Note'] },
    '/endpoints/$endpointId': {
      address: `/endpoints/${await idOf('/v1/event-endpoints')}`,
      heading: /^(?!Endpoint$)/,
      field: ['Edit', 'Note'],
    },
    '/deleted': { address: '/deleted', heading: /^Deleted$/, field: ['Search by name'] },
    $: { address: '/nowhere', heading: /^There is no such page$/, isOwn: true },
    '/authorize': { address: `/authorize?${await requestOfApp(running)}` },
    '/login': {
      address: `/login?${new URLSearchParams({ code_challenge: 'v'.repeat(43), state: 'state', machine: 'laptop', resource: demo.baseUrl })}`,
    },
    '/sign-in': { address: '/sign-in', isOwn: true },
    '/sign-in/$organizationId': { address: `/sign-in/${demo.organizationId}`, isOwn: true },
    '/signed-in': { address: '/signed-in', isOwn: true },
  }
  const router = readFileSync(join(ROOT, 'console/web/src/router.tsx'), 'utf8')
  const routes = Array.from(router.matchAll(/\bpath: '([^']+)'/g), ([, path = '']) => path)
  const differing = [...Object.keys(addresses), ...routes].filter(
    (path) => !(path in addresses && routes.includes(path)),
  )
  if (differing.length > 0) throw new Error(`The routes of the console and the addresses here differ: ${differing}`)
  return Object.entries(addresses).map(([path, addressed]) => ({ path, ...addressed }))
}

/** The pages that a session leads to. Those without data of the service never fail. */
export async function framedPages(running: Console, apiKey: string): Promise<readonly FramedPage[]> {
  const all = await addressesOf(running, apiKey)
  return all.flatMap(({ heading, ...rest }) => (heading && rest.path !== '$' ? [{ heading, ...rest }] : []))
}

async function requestOfApp({ url }: Console): Promise<URLSearchParams> {
  const registered = await fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'App', redirect_uris: ['http://127.0.0.1:1/'] }),
  })
  const { client_id } = (await registered.json()) as { client_id: string }
  return new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: 'http://127.0.0.1:1/',
    code_challenge: 'v'.repeat(43),
    code_challenge_method: 'S256',
    state: 'state',
  })
}
