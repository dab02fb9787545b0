/** SPEC.txt, Endpoints, 4; docs/contract.md, Session files. */
import * as z from 'zod/mini'
import type { Contract } from '../http/endpoint.ts'
import { docs, instant, uuid } from '../http/fields.ts'

const DEFAULT_PAGE_SIZE = 50
const LARGEST_PAGE_SIZE = 1000

const sessionFile = z
  .strictObject({
    id: uuid(),
    sessionId: uuid(),
    path: z.string(),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .register(docs, { id: 'SessionFile' })

export const listSessionFilesContract = {
  operationId: 'listSessionFiles',
  method: 'GET',
  path: '/v1/sessions/{sessionId}/files',
  tag: 'Sessions',
  summary: 'List session files',
  description:
    'Lists the persisted files of a session in order of creation, without their contents. ' +
    'Pass `nextCursor` as `cursor` to get the next page.',
  scope: 'session-files:read',
  params: z.object({ sessionId: uuid('The session.') }),
  query: z.object({
    limit: z
      ._default(
        z.string().check(
          z.regex(/^\d+$/, 'expected digits only'),
          z.refine((digits) => Number(digits) > 0, 'expected at least 1'),
        ),
        String(DEFAULT_PAGE_SIZE),
      )
      .register(docs, {
        description: `The most files of a page, from 1; above ${LARGEST_PAGE_SIZE} it means ${LARGEST_PAGE_SIZE}.`,
        example: '100',
      }),
    cursor: z
      .optional(uuid('The `nextCursor` of the page before.'))
      .register(docs, { minLength: 1, maxLength: 1000 }),
  }),
  success: {
    status: 200,
    description: 'A page of files.',
    schema: z
      .strictObject({
        items: z.array(sessionFile),
        nextCursor: z
          .nullable(uuid())
          .register(docs, { description: 'Where the next page begins; null on the last page.' }),
      })
      .register(docs, { id: 'SessionFilePage' }),
    example: {
      items: [
        {
          id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
          sessionId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
          path: 'src/app.ts',
          createdAt: '2026-03-29T01:00:00.000Z',
          updatedAt: '2026-03-29T01:00:00.000Z',
        },
      ],
      nextCursor: null,
    },
  },
  errors: {
    400: 'The path or a query parameter is wrong, or the key lacks the caller scope.',
    403: "The key is limited to projects other than the session's.",
    404: 'The organization has no session with this id.',
    409: 'The cursor is a file of another session.',
    410: 'The session was deleted, and its files with it.',
    500: 'The files could not be listed.',
    503: 'The database cannot answer now; `Retry-After` says when to ask again.',
  },
} as const satisfies Contract

/** The page size that a valid `limit` asks for. */
export function pageSizeOf(limit: string): number {
  return Math.min(Number(limit), LARGEST_PAGE_SIZE)
}
