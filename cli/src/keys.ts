/** `workspace keys`. */
import { Option } from '@commander-js/extra-typings'
import type { Data } from '../../client/src/index.ts'
import { printable } from '../../client/src/printable.ts'
import type { Scope } from '../../src/contracts.ts'
import { describe, given, group, withJson, withLimit, withOverlap } from './command.ts'
import { print, printList } from './output.ts'
import { KINDS, resolve, resolveOption } from './resolve.ts'
import { connect, pageSize } from './service.ts'
import { time } from './times.ts'

const KEY = ['<key>', 'the ID of the key, its first characters, or its name'] as const

const create = withJson(
  describe(
    'create',
    'Creates an API key that may do no more than yours, and prints its token. The token is shown only once.',
    [
      'keys create laptop --scope skills:read session-files:read',
      'keys create sandbox --scope environment-variables:lease --project website --expires 2026-12-31T00:00:00Z',
    ],
  )
    .argument('<name>', 'the display name')
    .requiredOption('--scope <scope...>', 'what the key may do')
    .option('--project <project...>', "the projects that it is restricted to; default: your key's")
    .option('--user <user>', "the user that it acts as; default: your key's")
    .option('--expires <time>', 'when it expires; default: as your key'),
).action(async (name, { scope, project, user, expires, json }) => {
  // The service says which scopes there are.
  const scopes = scope as Scope[]
  const workspace = connect()
  const userId = await resolveOption(workspace, KINDS.user, user)
  const projectIds = project && (await Promise.all(project.map((each) => resolve(workspace, KINDS.project, each))))
  const body = { name, scopes, ...given({ projectIds, userId, expiresAt: expires }) }
  const key = await workspace.apiKeys.create(body)
  if (!json) console.error(`Created ${printable(key.id)}. Its token is shown only now:`)
  print({ json }, key, key.token)
})

type ListedKey = Data<'listApiKeys'>['items'][number]

const list = withLimit(
  describe('list', 'Lists the API keys that yours may see.', ['keys list', 'keys list --sessions', 'keys list --apps'])
    .addOption(new Option('--sessions', 'list the sessions instead: who is signed in').conflicts('apps'))
    .option('--apps', 'list the connected apps instead'),
).action(async ({ sessions, apps, ...options }) => {
  const kind = sessions ? 'session' : apps ? 'grant' : 'key'
  await printList(
    options,
    connect().apiKeys.list({ kind, limit: pageSize(options.limit) }),
    {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      USER: ({ userId }) => userId,
      PROJECTS: ({ projectIds }) => projectIds ?? 'all',
      SCOPES: ({ scopes }) => scopes.length,
      'LAST USED': ({ lastUsedAt }) => time(lastUsedAt),
      EXPIRES: ({ expiresAt }) => time(expiresAt) ?? 'never',
    },
    {
      ...(apps && { APP: ({ app }: ListedKey) => app?.redirectHost }),
      CREATED: ({ createdAt }) => time(createdAt),
      ROTATED: ({ rotatedAt }) => time(rotatedAt),
    },
  )
})

const revoke = withJson(
  describe('revoke', 'Revokes an API key. It is refused from the next request on.', [
    'keys revoke laptop',
    'keys revoke 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 --descendants',
    'keys revoke Editor --app',
  ])
    .argument(...KEY)
    .option('--descendants', 'also revoke the keys that were created with it, and so on')
    .addOption(new Option('--app', 'disconnect a connected app of yours').conflicts('descendants')),
).action(async (text, { descendants, app, json }) => {
  const workspace = connect()
  if (app) {
    const appId = await resolve(workspace, KINDS.app, text)
    return print({ json }, await workspace.me.apps.delete(appId), `Disconnected ${appId}.`)
  }
  const apiKeyId = await resolve(workspace, KINDS.apiKey, text)
  const result = await workspace.apiKeys.delete(apiKeyId, { descendants })
  print({ json }, result, `Revoked ${apiKeyId}.`)
})

const rotate = withOverlap(
  describe(
    'rotate',
    'Creates the successor of an API key, which may do the same, and prints its token. The token is shown only once.',
    ['keys rotate laptop', 'keys rotate laptop --overlap 3600'],
  ).argument(...KEY),
).action(async (text, { overlap, json }) => {
  const workspace = connect()
  const apiKeyId = await resolve(workspace, KINDS.apiKey, text)
  const key = await workspace.apiKeys.rotate(apiKeyId, given({ overlapSeconds: overlap }))
  if (!json) console.error(`Created ${printable(key.id)}. Its token is shown only now:`)
  print({ json }, key, key.token)
})

export const keys = group(
  'keys',
  'Creates, lists, rotates and revokes API keys.',
  ['keys create laptop --scope skills:read', 'keys list'],
  [create, list, rotate, revoke],
)
