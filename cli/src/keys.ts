/** `workspace keys`. */
import { printable } from '../../client/src/printable.ts'
import type { Scope } from '../../src/contracts.ts'
import { describe, given, group, withJson, withLimit } from './command.ts'
import { print, printList } from './output.ts'
import { connect, pageSize } from './service.ts'

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
    .option('--project <id...>', 'the projects that it is restricted to; default: those of your key')
    .option('--user <id>', 'the user that it acts as; default: that of your key')
    .option('--expires <time>', 'when it expires; default: as your key'),
).action(async (name, { scope, project, user, expires, json }) => {
  // The service says which scopes there are.
  const scopes = scope as Scope[]
  const body = { name, scopes, ...given({ projectIds: project, userId: user, expiresAt: expires }) }
  const key = await connect().apiKeys.create(body)
  if (!json) console.error(`Created ${printable(key.id)}. Its token is shown only now:`)
  print({ json }, key, key.token)
})

const list = withLimit(
  describe('list', 'Lists the API keys that yours may see.', ['keys list', 'keys list --sessions']).option(
    '--sessions',
    'list the sessions of keys instead',
  ),
).action(async ({ sessions, ...options }) => {
  const kind = sessions ? 'session' : 'key'
  await printList(options, connect().apiKeys.list({ kind, limit: pageSize(options.limit) }), {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    USER: ({ userId }) => userId,
    PROJECTS: ({ projectIds }) => projectIds ?? 'all',
    SCOPES: ({ scopes }) => scopes.length,
    'LAST USED': ({ lastUsedAt }) => lastUsedAt,
    EXPIRES: ({ expiresAt }) => expiresAt ?? 'never',
  })
})

const revoke = withJson(
  describe('revoke', 'Revokes an API key. It is refused from the next request on.', [
    'keys revoke 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900',
    'keys revoke 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 --descendants',
  ])
    .argument('<id>', 'the ID of the key')
    .option('--descendants', 'also revoke the keys that were created with it, and so on'),
).action(async (apiKeyId, { descendants, json }) => {
  const result = await connect().apiKeys.delete(apiKeyId, { descendants })
  print({ json }, result, `Revoked ${apiKeyId}.`)
})

export const keys = group(
  'keys',
  'Creates, lists and revokes API keys.',
  ['keys create laptop --scope skills:read', 'keys list'],
  [create, list, revoke],
)
