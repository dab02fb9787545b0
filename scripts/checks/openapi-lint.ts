/**
 * The OpenAPI document by Redocly's rules: all that it strictly recommends, and those of the others that fit this API.
 */
import { createConfig, formatProblems, lintFromString } from '@redocly/openapi-core'
import { openapiDocument } from '../../src/openapi/document.ts'
import { loadOperations } from '../../src/operations.ts'
import { describeScript, parsed } from '../../tools/command-line.ts'

parsed(
  describeScript(
    'check openapi',
    "Checks the OpenAPI document with Redocly's strict recommended rules, and with more of its rules.",
    [''],
  ),
)

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'array-parameter-serialization': 'error',
    'component-name-unique': 'error',
    'no-http-verbs-in-paths': 'error',
    'operation-description': 'error',
    'operation-tag-defined': 'error',
    'parameter-description': 'error',
    'path-params-defined': 'error',
    'spec-example-values': 'error',
    'spec-strict-refs': 'error',
  },
})
const problems = await lintFromString({
  source: openapiDocument(await loadOperations()),
  absoluteRef: 'openapi.json',
  config,
})
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
