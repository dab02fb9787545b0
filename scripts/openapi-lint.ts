/** Checks the OpenAPI document with Redocly's recommended rules. */
import { createConfig, formatProblems, lintFromString } from '@redocly/openapi-core'
import { openapiDocument } from '../src/openapi/document.ts'
import { loadOperations } from '../src/operations.ts'
import { describeScript, parsed } from './command-line.ts'

parsed(
  describeScript('verify:openapi', "Checks the OpenAPI document with Redocly's recommended rules.", ['']),
)

const config = await createConfig({
  extends: ['recommended'],
  rules: {
    // The servers are paths: the document does not know where it is deployed.
    'no-server-example.com': 'error',
    'operation-4xx-response': 'error',
  },
})
const found = await lintFromString({
  source: openapiDocument(await loadOperations()),
  absoluteRef: 'openapi.json',
  config,
})
// `GET /v1/me` has no parameters, so no 4xx status of its own; the shared errors are under `default`.
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
