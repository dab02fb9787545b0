import { describe, expect, it } from 'vitest'
import type { Api } from '../../mcp/src/api.ts'
import { withFileId } from '../../mcp/src/session-files.ts'

/**
 * The list of files of a session, with the paths `0`, `1`, and so on as their own IDs.
 * @returns what is asked of it, too.
 */
function session(fileCount: number) {
  const asked: string[] = []
  const json = async (path: string) => {
    asked.push(path)
    const { searchParams } = new URL(path, 'https://api')
    const start = Number(searchParams.get('cursor') ?? -1) + 1
    const end = Math.min(start + Number(searchParams.get('limit')), fileCount)
    const items = Array.from({ length: end - start }, (_, index) => ({
      id: `${start + index}`,
      path: `${start + index}`,
    }))
    return { items, nextCursor: end < fileCount ? `${end - 1}` : null }
  }
  return { api: { json } as unknown as Api, asked }
}

describe('the ID of a file by its path', () => {
  it.each([
    [0, 1],
    [999, 1],
    [1000, 2],
    [4999, 5],
  ])('is found for file %i with %i requests', async (index, requests) => {
    const { api, asked } = session(6000)
    expect(await withFileId({ sessionId: 's', path: `${index}` }, api)).toMatchObject({ fileId: `${index}` })
    expect(asked).toHaveLength(requests)
    expect(asked[0]).toBe('/v1/sessions/s/files?limit=1000')
  })

  it.each([
    [0, 1, 'The session has no file at the path "none".'],
    [1000, 1, 'The session has no file at the path "none".'],
    [5000, 5, 'The session has no file at the path "none".'],
    [5001, 5, 'The first 5000 files of the session have none at the path "none".'],
  ])('is not searched for beyond 5,000 files: %i files, %i requests', async (count, requests, message) => {
    const { api, asked } = session(count)
    await expect(withFileId({ sessionId: 's', path: 'none' }, api)).rejects.toMatchObject({
      message,
      code: 'session_file_not_found',
      status: 404,
    })
    expect(asked).toHaveLength(requests)
  })

  it('is not searched for if it is given', async () => {
    const { api, asked } = session(1)
    expect(await withFileId({ sessionId: 's', fileId: '7' }, api)).toEqual({ sessionId: 's', fileId: '7' })
    expect(asked).toEqual([])
  })
})
