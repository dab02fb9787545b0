/** The mistakes that people make, and the answers that tell them what to change. Read each as if you had made it. */
import { describe, expect, it } from 'vitest'
import { contents } from './mistakes/contents.ts'
import { type Mistakes, prepareWorkspace } from './mistakes/fixture.ts'
import { organization } from './mistakes/organization.ts'
import { requests } from './mistakes/requests.ts'
import { schedules } from './mistakes/schedules.ts'

const mistakes: Mistakes = { ...requests, ...schedules, ...contents, ...organization }

const send = await prepareWorkspace()

describe.each(Object.entries(mistakes))('%s', (_theme, table) => {
  it.each(table)('$mistake: $request', async (mistake) => {
    const { status, headers, body } = await send(mistake)
    expect({ status, code: headers.get('Error-Code'), error: body.error }).toEqual({
      status: mistake.status,
      code: mistake.code,
      error: mistake.error,
    })
  })
})
