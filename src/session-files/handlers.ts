import { endpoint } from '../http/endpoint.ts'
import { outOfReach, Refusal } from '../http/errors.ts'
import { listSessionFilesContract, pageSizeOf } from './contract.ts'
import { explainFiles, selectFiles } from './statements.ts'

export const listSessionFiles = endpoint(listSessionFilesContract, async ({ params, query }, call) => {
  const pageSize = pageSizeOf(query.limit)
  // One row more than the page: it tells whether there is a next page.
  const [explanation, files] = await call.run(explainFiles, [selectFiles], {
    sessionId: params.sessionId,
    cursor: query.cursor ?? '',
    rowLimit: pageSize + 1,
  })
  if (!explanation.sessionExists) throw new Refusal(404, 'sessionId: there is no session with this id')
  if (!explanation.inReach) throw outOfReach()
  if (explanation.isDeleted) throw new Refusal(410, 'The session was deleted, and its files with it')
  if (explanation.cursorIsElsewhere) {
    throw new Refusal(409, 'cursor: it is a file of another session; pass the nextCursor of the page before')
  }
  const items = files.slice(0, pageSize)
  const nextCursor = files.length > pageSize ? (items.at(-1)?.id ?? null) : null
  return { body: { items, nextCursor } }
})
