/** The object store (R2), as operations use it: a failure of it is a store that is away. */
import { StoreUnavailable } from '../db/failures.ts'

/** The entity tag of an object's content: every content has an object of its own, named by a UUID. */
export function entityTagOf(key: string): string {
  return `"${key.slice(key.lastIndexOf('/') + 1)}"`
}

/** Streams a body of known length into an object. @throws {StoreUnavailable} if it isn't stored whole. */
export async function putObject(
  objects: R2Bucket,
  key: string,
  body: ReadableStream | ArrayBuffer,
  lengthBytes: number,
): Promise<void> {
  await answering(async () => {
    if (body instanceof ArrayBuffer) return objects.put(key, body)
    const { readable, writable } = new FixedLengthStream(lengthBytes)
    return Promise.all([objects.put(key, readable), body.pipeTo(writable)])
  })
}

/** The content of an object, or a part of it. @throws {StoreUnavailable} */
export async function getObject(objects: R2Bucket, key: string, range?: R2Range): Promise<ReadableStream> {
  const object = await answering(() => objects.get(key, range && { range }))
  // It was there a moment ago, when the database was asked.
  if (!object) throw new StoreUnavailable('An object was replaced while it was being read')
  return object.body
}

/** Frees an object at once. If that fails, it is orphaned all the same, and the sweep deletes it later. @throws {StoreUnavailable} */
export async function deleteObject(objects: R2Bucket, key: string): Promise<void> {
  await answering(() => objects.delete(key))
}

async function answering<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw new StoreUnavailable('The object store failed', { cause: error })
  }
}
