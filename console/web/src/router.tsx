/** Every page and its address. The filters of a page are search parameters, so a view is a link that can be shared. */
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { isSignedOut, meQuery } from './api.ts'
import { NotFound } from './components/not-found.tsx'
import { PageError } from './components/page-error.tsx'
import { PagePending } from './components/page-pending.tsx'
import { loadPart, queryClient } from './connection.ts'
import { DELETED_KINDS } from './deleted/kinds.ts'
import { KEY_KINDS } from './keys/kinds.ts'
import { Layout } from './layout/layout.tsx'
import { Root } from './layout/root.tsx'
import { beginFeed } from './live.ts'
import { KINDS } from './people/kinds.ts'
import { choice, count, day, search, text } from './search.ts'
import { readSignInWays, rememberedOrganization } from './session.ts'
import { noteEnd } from './sign-in/problem.ts'
import { Today } from './today/today.tsx'

type Given = Readonly<Record<string, unknown>>

/** The address of a page that an app opens has a long query. */
const MAX_ADDRESS_LENGTH = 4000

const root = createRootRoute({ component: Root })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ next }: Given) => search({ next: text(next, MAX_ADDRESS_LENGTH) }),
  beforeLoad: ({ search }) => {
    const organizationId = rememberedOrganization()
    if (organizationId === undefined) return
    throw redirect({ to: '/sign-in/$organizationId', params: { organizationId }, search, replace: true })
  },
  loader: () => readSignInWays(),
}).lazy(async () => (await loadPart(() => import('./sign-in/sign-in.tsx'))).Route)

const organizationSignIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in/$organizationId',
  validateSearch: ({ next }: Given) => search({ next: text(next, MAX_ADDRESS_LENGTH) }),
  loader: ({ params }) => readSignInWays(params.organizationId),
}).lazy(async () => (await loadPart(() => import('./sign-in/sign-in.tsx'))).OrganizationRoute)

/** Where the window ends in which a person signed in again. */
const signedIn = createRoute({ getParentRoute: () => root, path: '/signed-in' }).lazy(
  async () => (await loadPart(() => import('./sign-in/signed-in.tsx'))).Route,
)

/** What needs a session. */
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: Layout,
  beforeLoad: async ({ location }) => {
    try {
      const { apiKey } = await queryClient.ensureQueryData(meQuery)
      if (apiKey.scopes.includes('audit-events:read')) await beginFeed()
    } catch (error) {
      if (!isSignedOut(error)) throw error
      noteEnd(error)
      throw redirect({ to: '/sign-in', search: { next: location.href } })
    }
  },
  errorComponent: PageError,
})

/** For pages that programs open. */
async function signInFirst(): Promise<void> {
  try {
    await queryClient.ensureQueryData(meQuery)
  } catch (error) {
    if (!isSignedOut(error)) throw error
    noteEnd(error)
    // The router would write numbers and lists in the query in another way.
    throw redirect({ to: '/sign-in', search: { next: `${window.location.pathname}${window.location.search}` } })
  }
}

/** An app asks to be connected. */
const authorize = createRoute({
  getParentRoute: () => root,
  path: '/authorize',
  beforeLoad: signInFirst,
  errorComponent: PageError,
}).lazy(async () => (await loadPart(() => import('./authorize/authorize.tsx'))).Route)

/** `workspace login` asks for a key. */
const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  beforeLoad: signInFirst,
  errorComponent: PageError,
}).lazy(async () => (await loadPart(() => import('./command-login/command-login.tsx'))).Route)

/** Most people begin here: it comes with the first scripts. */
const today = createRoute({ getParentRoute: () => app, path: '/', component: Today })

export const SCHEDULE_STATES = ['enabled', 'paused', 'failing'] as const

const schedules = createRoute({
  getParentRoute: () => app,
  path: '/schedules',
  validateSearch: ({ q, state, of }: Given) =>
    search({
      q: text(q),
      state: choice(state, SCHEDULE_STATES),
      of: choice(of, ['project', 'agent'] as const),
    }),
}).lazy(async () => (await loadPart(() => import('./schedules/schedules.tsx'))).Route)

const schedule = createRoute({
  getParentRoute: () => app,
  path: '/$parents/$parentId/schedules/$scheduleId',
  params: {
    parse: ({ parents, ...ids }) => ({
      parents: parents === 'agents' ? ('agents' as const) : ('projects' as const),
      ...ids,
    }),
  },
}).lazy(async () => (await loadPart(() => import('./schedules/schedule.tsx'))).Route)

export const RUN_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'skipped'] as const

const runs = createRoute({
  getParentRoute: () => app,
  path: '/runs',
  validateSearch: ({ status, schedule, project }: Given) =>
    search({
      status: choice(status, RUN_STATUSES),
      schedule: text(schedule),
      project: text(project),
    }),
}).lazy(async () => (await loadPart(() => import('./runs/runs.tsx'))).Route)

const run = createRoute({ getParentRoute: () => app, path: '/runs/$runId' }).lazy(
  async () => (await loadPart(() => import('./runs/run.tsx'))).Route,
)

const pins = createRoute({ getParentRoute: () => app, path: '/pins' }).lazy(
  async () => (await loadPart(() => import('./pins/pins.tsx'))).Route,
)

const sessions = createRoute({
  getParentRoute: () => app,
  path: '/sessions',
  validateSearch: ({ q, project }: Given) => search({ q: text(q), project: text(project) }),
}).lazy(async () => (await loadPart(() => import('./sessions/sessions.tsx'))).Route)

const session = createRoute({
  getParentRoute: () => app,
  path: '/sessions/$sessionId',
  validateSearch: ({ file, q }: Given) => search({ file: text(file), q: text(q) }),
}).lazy(async () => (await loadPart(() => import('./sessions/session.tsx'))).Route)

const skills = createRoute({
  getParentRoute: () => app,
  path: '/skills',
  validateSearch: ({ q }: Given) => search({ q: text(q) }),
}).lazy(async () => (await loadPart(() => import('./skills/skills.tsx'))).Route)

const skill = createRoute({
  getParentRoute: () => app,
  path: '/skills/$skillId',
  validateSearch: ({ version, view, from, to, at, file, q }: Given) =>
    search({
      version: count(version),
      view: choice(view, ['files', 'versions'] as const),
      /** Two versions to compare. */
      from: count(from),
      to: count(to),
      /** When a version was made, to show what it changed. */
      at: text(at),
      file: text(file),
      q: text(q),
    }),
}).lazy(async () => (await loadPart(() => import('./skills/skill.tsx'))).Route)

const newSkill = createRoute({ getParentRoute: () => app, path: '/skills/new' }).lazy(
  async () => (await loadPart(() => import('./skills/new-skill.tsx'))).Route,
)

const editSkill = createRoute({
  getParentRoute: () => app,
  path: '/skills/$skillId/edit',
  validateSearch: ({ file }: Given) => search({ file: text(file) }),
}).lazy(async () => (await loadPart(() => import('./skills/edit-skill.tsx'))).Route)

const skillFeeds = createRoute({ getParentRoute: () => app, path: '/skills/feeds' }).lazy(
  async () => (await loadPart(() => import('./skills/feeds.tsx'))).Route,
)

const activity = createRoute({
  getParentRoute: () => app,
  path: '/activity',
  validateSearch: ({ types, resource, user, project, day: given }: Given) =>
    search({
      types: text(types),
      resource: text(resource),
      user: text(user),
      project: text(project),
      day: day(given),
    }),
}).lazy(async () => (await loadPart(() => import('./activity/activity.tsx'))).Route)

const variables = createRoute({
  getParentRoute: () => app,
  path: '/variables',
  validateSearch: ({ project, q }: Given) => search({ project: text(project), q: text(q) }),
}).lazy(async () => (await loadPart(() => import('./variables/variables.tsx'))).Route)

export const KEY_STATES = ['active', 'expiring', 'rotated', 'expired'] as const

const keys = createRoute({
  getParentRoute: () => app,
  path: '/keys',
  validateSearch: ({ kind, q, state }: Given) =>
    search({ kind: choice(kind, KEY_KINDS), q: text(q), state: choice(state, KEY_STATES) }),
}).lazy(async () => (await loadPart(() => import('./keys/keys.tsx'))).Route)

const key = createRoute({ getParentRoute: () => app, path: '/keys/$keyId' }).lazy(
  async () => (await loadPart(() => import('./keys/key.tsx'))).Route,
)

const people = createRoute({
  getParentRoute: () => app,
  path: '/people',
  validateSearch: ({ kind, q }: Given) => search({ kind: choice(kind, KINDS), q: text(q) }),
}).lazy(async () => (await loadPart(() => import('./people/people.tsx'))).Route)

const rules = createRoute({ getParentRoute: () => app, path: '/people/sign-in' }).lazy(
  async () => (await loadPart(() => import('./people/rules.tsx'))).Route,
)

/** Leads to the person. */
const identity = createRoute({ getParentRoute: () => app, path: '/people/identities/$identityId' }).lazy(
  async () => (await loadPart(() => import('./people/to-person.tsx'))).Route,
)

/** A person, an agent or a project. */
const resource = createRoute({
  getParentRoute: () => app,
  path: '/people/$kind/$id',
  params: { parse: ({ kind, id }) => ({ kind: choice(kind, KINDS) ?? 'users', id }) },
}).lazy(async () => (await loadPart(() => import('./people/resource.tsx'))).Route)

const endpoints = createRoute({ getParentRoute: () => app, path: '/endpoints' }).lazy(
  async () => (await loadPart(() => import('./endpoints/endpoints.tsx'))).Route,
)

const endpoint = createRoute({ getParentRoute: () => app, path: '/endpoints/$endpointId' }).lazy(
  async () => (await loadPart(() => import('./endpoints/endpoint.tsx'))).Route,
)

const deleted = createRoute({
  getParentRoute: () => app,
  path: '/deleted',
  validateSearch: ({ q, kind, project }: Given) =>
    search({ q: text(q), kind: choice(kind, DELETED_KINDS), project: text(project) }),
}).lazy(async () => (await loadPart(() => import('./deleted/deleted.tsx'))).Route)

/** Any other address. */
const notFound = createRoute({ getParentRoute: () => app, path: '$', component: NotFound })

const pages = [
  today,
  schedules,
  schedule,
  runs,
  run,
  pins,
  sessions,
  session,
  skills,
  skill,
  newSkill,
  editSkill,
  skillFeeds,
  activity,
  variables,
  keys,
  key,
  people,
  rules,
  identity,
  resource,
  endpoints,
  endpoint,
  deleted,
  notFound,
]

export function createConsoleRouter() {
  const router = createRouter({
    routeTree: root.addChildren([signIn, organizationSignIn, signedIn, authorize, login, app.addChildren(pages)]),
    defaultPreload: 'intent',
    // What a page shows is kept by the queries.
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: PageError,
    defaultPendingComponent: PagePending,
    scrollRestoration: true,
  })
  // The code of the first page is loaded while the session is read.
  const [routes] = router.getMatchedRoutes(router.latestLocation.pathname)
  // Loaded again when it is needed, if that fails.
  for (const route of routes) router.loadRouteChunk(route)?.catch(() => undefined)
  return router
}
