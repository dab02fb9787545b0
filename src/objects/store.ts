/** The object store (R2), as operations use it: its failures are `StoreUnavailable`, which is answered with 503. */
import { StoreUnavailable } from '../db/failures.ts'

/** The ETag of an object. New content gets a new object with a UUID of its own, so an object's content never changes. */
export function entityTagOf(key: string): string {
  return `"${key.slice(key.lastIndexOf('/') + 1)}"`
}

/** Streams a body of known length into an object. @throws {StoreUnavailable} if the object isn't stored completely. */
export async function putObject(
  objects: R2Bucket,
  key: string,
  body: ReadableStream | ArrayBuffer,
  lengthBytes: number,
): Promise<void> {
  await withStoreErrors(async () => {
    if (body instanceof ArrayBuffer) return objects.put(key, body)
    const { readable, writable } = new FixedLengthStream(lengthBytes)
    return Promise.all([objects.put(key, readable), body.pipeTo(writable)])
  })
}

/** The content of an object, or one range of it. @throws {StoreUnavailable} */
export async function getObject(objects: R2Bucket, key: string, range?: R2Range): Promise<ReadableStream> {
  const object = await withStoreErrors(() => objects.get(key, range && { range }))
  // The database has just named the object, so it existed then.
  if (!object) throw new StoreUnavailable('An object was replaced while it was being read')
  return object.body
}

/** Deletes an orphaned object at once. If that fails, the sweep deletes it later. @throws {StoreUnavailable} */
export async function deleteObject(objects: R2Bucket, key: string): Promise<void> {
  await withStoreErrors(() => objects.delete(key))
}

async function withStoreErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw new StoreUnavailable('The object store failed', { cause: error })
  }
}
