import { request } from '../support/api.ts'
import { type Example, eventOf, type Row, type Rows } from '../support/example.ts'
import { now, type Workspace } from '../support/workspace.ts'

const PATH = '/v1/event-endpoints'
const URL_OF_EVENTS = 'https://hooks.example.com/events'
/** How the URL is shown. */
const name = 'hooks.example.com…ents'

/** @param below is added to the path. */
const prepareEndpoint =
  (below = '', json?: object) =>
  async (workspace: Workspace): Promise<Example> => {
    const { id } = await workspace.addEventEndpoint({ url: URL_OF_EVENTS })
    return { path: `${PATH}/${id}${below}`, ids: [id], ...(json && { json }) }
  }

/** The event of an operation below the path of the endpoint. */
const recorded: (...parameters: Parameters<typeof eventOf>) => NonNullable<Row['events']> =
  (...parameters) =>
  (example, made) =>
    eventOf(...parameters)({ ...example, path: example.path.replace(/\/(?:rotate|test|rewind)$/, '') }, made)

const withJson = (json: object): Row['variations'][string] => ({
  apply: async (_, example) => ({ ...example, json }),
})

/** Event endpoints are organization-wide. */
const organizationWide = { outOfReach: 403, reachesAll: true } as const

export const eventEndpointRows: Rows = {
  createEventEndpoint: {
    prepare: async () => ({ path: PATH, json: { url: URL_OF_EVENTS }, ids: [] }),
    ...organizationWide,
    namesNothing: true,
    looksUpFirst: true,
    events: eventOf('event-endpoint.created', { isNew: true, name }),
    variations: {
      'it has every setting': withJson({
        url: URL_OF_EVENTS,
        format: 'text',
        types: ['skill.*', 'project.updated'],
        projectId: 'website',
        note: 'For the chat',
        batch: false,
      }),
      'the URL is not public': { ...withJson({ url: 'https://localhost/events' }), status: 400 },
      'the organization has the most event endpoints allowed': {
        status: 409,
        async apply(workspace, example) {
          for (let count = 0; count < 10; count++) await workspace.addEventEndpoint()
          return example
        },
      },
    },
  },

  listEventEndpoints: {
    async prepare(workspace) {
      await workspace.addEventEndpoint()
      return { path: PATH, ids: [] }
    },
    ...organizationWide,
    namesNothing: true,
    variations: {},
  },

  retrieveEventEndpoint: { prepare: prepareEndpoint(), ...organizationWide, variations: {} },

  updateEventEndpoint: {
    prepare: prepareEndpoint('', { note: 'For the cache' }),
    ...organizationWide,
    looksUpFirst: true,
    events: recorded('event-endpoint.updated', { name }),
    variations: {
      'it changes everything': {
        ...withJson({
          url: 'https://hooks.example.com/others',
          types: null,
          projectId: 'website',
          note: null,
          batch: false,
          enabled: true,
        }),
        events: recorded('event-endpoint.updated', { name: 'hooks.example.com…hers' }),
      },
      'it disables the endpoint': {
        ...withJson({ enabled: false }),
        events: recorded('event-endpoint.disabled', { name }),
      },
      'the next event is too old': {
        status: 410,
        async apply(workspace, example) {
          await workspace.addEvents(['2020-01-01T00:00:01.000Z'])
          return { ...example, json: { enabled: true } }
        },
      },
      'the new URL is not public': { ...withJson({ url: 'https://localhost/events' }), status: 400 },
    },
  },

  deleteEventEndpoint: {
    prepare: prepareEndpoint(),
    ...organizationWide,
    events: eventOf('event-endpoint.deleted', { name }),
    variations: {},
  },

  rotateEventEndpoint: {
    prepare: prepareEndpoint('/rotate', { overlapSeconds: 60 }),
    ...organizationWide,
    looksUpFirst: true,
    events: recorded('event-endpoint.rotated', { name }),
    variations: {
      'the format has no secret': {
        status: 409,
        async apply(workspace) {
          const { id } = await workspace.addEventEndpoint({ url: URL_OF_EVENTS, format: 'text' })
          return { path: `${PATH}/${id}/rotate`, json: { overlapSeconds: 60 }, ids: [id] }
        },
      },
      'the previous secret is still valid': {
        status: 409,
        async apply(workspace, example) {
          await request('POST', example.path, { key: await workspace.addKey(), json: {} })
          return example
        },
      },
    },
  },

  testEventEndpoint: {
    prepare: prepareEndpoint('/test'),
    ...organizationWide,
    events: recorded('event-endpoint.tested', { name }),
    variations: {},
  },

  rewindEventEndpoint: {
    async prepare(workspace) {
      await workspace.addEvents([new Date(Date.parse(now()) - 1000).toISOString()])
      return prepareEndpoint('/rewind', { after: 'now' })(workspace)
    },
    ...organizationWide,
    events: recorded('event-endpoint.rewound', { name }),
    variations: {
      'it names a place': withJson({ after: '0hjv8mo2h8g' }),
      'the next event is too old': {
        status: 410,
        async apply(workspace, example) {
          await workspace.addEvents(['2020-01-01T00:00:02.000Z'])
          return { ...example, json: { after: '00000000000' } }
        },
      },
    },
  },
}
