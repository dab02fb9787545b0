import { describe, expect, it } from 'vitest'
import type * as z from 'zod/mini'
import { describeProblems } from '../../src/http/problems.ts'
import { loadOperations } from '../../src/operations.ts'
import { inputPlacesOf, issuesOfFirstCheck, withValue } from '../support/inputs.ts'

const operations = await loadOperations()

const places = operations.flatMap(({ contract }) =>
  inputPlacesOf(contract).map((place) => ({
    ...place,
    name: [contract.operationId, place.part, ...place.path].join('.'),
  })),
)

/** Stands in for a text or a list that is long: it has a length, and whatever else is asked of it throws. */
function lengthAlone<Target extends object>(target: Target, length: number): Target {
  return new Proxy(target, {
    get(_, name) {
      if (name === 'length') return length
      throw new Error(`asked for ${String(name)}`)
    },
  })
}

const FAR_TOO_LONG = 2 ** 29

describe('every string of an input', () => {
  it.each(places.filter(({ kind }) => kind === 'string'))(
    'is refused by its length alone, before any other check: $name',
    ({ schema }) => {
      const [issue, ...others] = issuesOfFirstCheck(schema, lengthAlone({}, FAR_TOO_LONG))
      expect(others).toEqual([])
      expect(issue).toMatchObject({
        code: 'custom',
        params: { wrong: expect.stringMatching(/ too l| format$/) },
      })
      // Unless the issue says so, no further check follows.
      expect(issue?.continue ?? false).toBe(false)
    },
  )
})

describe('every list of an input', () => {
  it.each(places.filter(({ kind }) => kind === 'list'))(
    'is refused by its length alone, before any item is checked: $name',
    ({ schema }) => {
      const result = (schema as z.ZodMiniType).safeParse(lengthAlone([], FAR_TOO_LONG))
      expect(result.error?.issues).toEqual([
        expect.objectContaining({ code: 'too_big', message: expect.stringMatching(/ \d+ \w+$/) }),
      ])
    },
  )
})

it.each(operations.map(({ contract }) => contract))('$operationId says what is allowed in each input', (contract) => {
  for (const { part, path } of inputPlacesOf(contract)) {
    const schema = contract[part]
    if (!schema) throw new Error(`There is no ${part}`)
    for (const value of [7, undefined]) {
      const data = withValue({}, path, value)
      const issues = schema.safeParse(data).error?.issues ?? []
      const sentences = describeProblems(issues, { schema, data, isSecret: false })
      expect(sentences).not.toContain('Invalid input')
    }
  }
})

it('knows the strings and lists of every part of a request', () => {
  const names = places.map(({ name }) => name)
  for (const name of [
    'putSessionFile.query.path',
    'deleteEnvironmentVariable.params.key',
    'retrieveSkill.headers.If-None-Match',
    'createSkill.body.files',
    'createSkill.body.files.0.filename',
    'createApiKey.body.projectIds.0',
    'updateProjectSchedule.body.timezone',
    'previewSchedule.query.count',
  ])
    expect(names).toContain(name)
})
