/** A body that is large, or does not say how long it is, is read only for a key that may act now. */
import { describe, expect, it } from 'vitest'
import { recordUse } from '../../src/access/guard.ts'
import type { Contract } from '../../src/http/contract.ts'
import { watchedDatabase } from '../support/bindings.ts'
import type { Example } from '../support/example.ts'
import { exampleList, keyFor, send } from '../support/examples.ts'
import { type KeyOptions, Workspace } from '../support/workspace.ts'

const ASKED_WITHOUT_BYTES = 64 * 1024

/**
 * What is read into memory: JSON and pictures. Session files are streamed to the object store once the key
 * was checked.
 */
const readers = exampleList.filter(({ contract }) => contract.body || contract.operationId === 'putProfilePicture')

/** The declared lengths that a key is asked about before the body is read, where the operation takes as much. */
const lengthsOf = ({ bodyLimitBytes = ASKED_WITHOUT_BYTES }: Contract) =>
  bodyLimitBytes > ASKED_WITHOUT_BYTES ? [undefined, ASKED_WITHOUT_BYTES + 1, bodyLimitBytes] : [undefined]

/** The example as a stream. @param declaredBytes white space fills it up to them. */
function streamed({ json, body, ...example }: Example, declaredBytes?: number) {
  const content = Buffer.from(json === undefined ? (body as Uint8Array) : JSON.stringify(json))
  const padded = Buffer.alloc(Math.max(declaredBytes ?? 0, content.length), ' ')
  content.copy(padded)
  const use = { isRead: false }
  const stream = new ReadableStream(
    {
      pull(controller) {
        use.isRead = true
        controller.enqueue(new Uint8Array(padded))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const headers = {
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...(declaredBytes !== undefined && { 'Content-Length': String(declaredBytes) }),
    ...example.headers,
  }
  return { use, example: { ...example, headers, body: stream } }
}

describe.each(readers)('$operationId', ({ operationId, contract, row }) => {
  /** Sends a large body of each kind with the key. @returns the answers, and whether the body was read. */
  async function answersTo(workspace: Workspace, key: string) {
    const prepared = await row.prepare(workspace)
    const answers = []
    for (const declaredBytes of lengthsOf(contract)) {
      const { use, example } = streamed(prepared, declaredBytes)
      const { status, body } = await send(operationId, example, key)
      answers.push({ status, error: body.error, isRead: use.isRead })
    }
    return answers
  }

  async function refused(keyOptions: KeyOptions) {
    const workspace = await Workspace.create()
    return answersTo(workspace, await workspace.addKey(keyOptions))
  }

  const all = (answer: object) => lengthsOf(contract).map(() => ({ ...answer, isRead: false }))

  it('reads no large body for a key that was revoked since it was last used', async () => {
    const workspace = await Workspace.create()
    const first = await row.prepare(workspace)
    const { id, token } = await workspace.addKeyWithId(first.keyOptions)
    // Now its organization is remembered.
    expect((await send(operationId, first, token)).status).toBeLessThan(300)
    await workspace.revokeKey(id)
    expect(await answersTo(workspace, token)).toEqual(
      all({ status: 401, error: 'The API key was revoked. Use another API key.' }),
    )
  })

  it.runIf(contract.scope !== null)('reads no large body for a key without the scope', async () => {
    expect(await refused({ scopes: [] })).toEqual(
      all({
        status: 400,
        error: `This API key lacks the scope "${contract.scope}". Use a key that has it; GET /v1/me shows the scopes of a key.`,
      }),
    )
  })

  it.runIf(contract.actsAsUser)('reads no large body for a key without a user', async () => {
    expect(await refused({ userId: null })).toEqual(
      all({ status: 400, error: expect.stringContaining('does not act as a user') }),
    )
  })

  it('makes one trip more for a large body, also where the organization has to be known', async () => {
    for (const declaredBytes of lengthsOf(contract)) {
      const workspace = await Workspace.create()
      const { use, example } = streamed(await row.prepare(workspace), declaredBytes)
      const database = watchedDatabase()
      const environment = { ...example.environment, DB: database.DB }
      const key = await keyFor(workspace, example)
      const { status } = await send(operationId, { ...example, environment }, key)
      expect([status < 300, use.isRead]).toEqual([true, true])
      const notes = database.statements.filter(({ sql }) => sql === recordUse.sql)
      expect(database.calls - notes.length).toBe((row.calls ?? 1) + 1)
    }
  })
})
