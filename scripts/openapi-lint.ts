/** Holds the OpenAPI document against Redocly's recommended rules. */
import { createConfig, formatProblems, lintFromString } from '@redocly/openapi-core'
import { openapiDocument } from '../src/openapi/document.ts'
import { loadOperations } from '../src/operations.ts'

const config = await createConfig({
  extends: ['recommended'],
  rules: {
    // The document can't know where it is deployed: its servers are paths.
    'no-server-example.com': 'error',
    'operation-4xx-response': 'error',
  },
})
const found = await lintFromString({
  source: openapiDocument(await loadOperations()),
  absoluteRef: 'openapi.json',
  config,
})
// Nothing that `GET /v1/me` takes could be wrong: what it refuses comes from the service, under `default`.
const problems = found.filter(
  ({ ruleId, location }) =>
    ruleId !== 'operation-4xx-response' || !location[0]?.pointer?.startsWith('#/paths/~1v1~1me/'),
)
formatProblems(problems, {
  format: 'codeframe',
  totals: {
    errors: problems.filter(({ severity }) => severity === 'error').length,
    warnings: problems.filter(({ severity }) => severity === 'warn').length,
    ignored: 0,
  },
  version: '',
})
if (problems.length > 0) process.exitCode = 1
