/** `workspace audit`. */
import { describe, given, withLimit } from './command.ts'
import { printList } from './output.ts'
import { connect, pageSize } from './service.ts'

export const audit = withLimit(
  describe('audit', 'Lists the changes in the organization, the latest first.', [
    'audit',
    'audit --operation createApiKey --since 2026-03-01T00:00:00Z',
    'audit --limit 1000 --json',
  ])
    .option('--since <time>', 'only changes at or after this time')
    .option('--until <time>', 'only changes before this time')
    .option('--operation <name>', 'only changes by this operation, such as deleteSkill')
    .option('--key <id>', 'only changes with this API key')
    .option('--user <id>', 'only changes by keys that act as this user'),
  50,
).action(async ({ since, until, operation, key: apiKeyId, user: userId, json, limit = 50 }) => {
  const query = given({ since, until, operation, apiKeyId, userId, limit: pageSize(limit) })
  await printList({ json, limit }, connect().auditEvents.list(query), {
    TIME: ({ createdAt }) => createdAt,
    OPERATION: ({ operation }) => operation,
    TARGET: ({ target }) => target,
    KEY: ({ apiKeyName }) => apiKeyName,
    'KEY ID': ({ apiKeyId }) => apiKeyId,
    USER: ({ userId }) => userId,
  })
})
