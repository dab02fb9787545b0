/** The object store (R2), as operations use it: its failures are `StoreUnavailable`, which is answered with 503. */
import { StoreUnavailable } from '../db/failures.ts'

/**
 * The ETag of an object. New content gets a new object with a UUID of its own, so an object's content never changes.
 */
export function toEntityTag(key: string): string {
  return `"${key.slice(key.lastIndexOf('/') + 1)}"`
}

/** The organization that the key of an object names: `<kind>/<organization>/<UUID>`. */
export function organizationOf(key: string): string {
  return key.split('/')[1] ?? ''
}

/** Stores an object. @throws {StoreUnavailable} */
export async function putObject(objects: R2Bucket, key: string, bytes: ArrayBuffer): Promise<void> {
  await withStoreErrors(() => objects.put(key, bytes))
}

/**
 * Streams a body of known length into an object.
 * @returns the SHA-256 of the body, in lower-case hexadecimal.
 * @throws {StoreUnavailable} if the object is not stored completely.
 */
export async function streamObject(
  objects: R2Bucket,
  key: string,
  body: ReadableStream<Uint8Array>,
  lengthBytes: number,
): Promise<string> {
  const { readable, writable } = new FixedLengthStream(lengthBytes)
  const [, digest] = await withStoreErrors(() =>
    Promise.all([objects.put(key, readable), pipeWithDigest(body, writable)]),
  )
  return digest
}

/**
 * What is read at once. Without its own buffer, a reader of workerd returns 4 KiB, which costs four times the
 * CPU.
 */
const BUFFER_BYTES = 128 * 1024

/** @returns the SHA-256 of all bytes. */
async function pipeWithDigest(body: ReadableStream<Uint8Array>, writable: WritableStream<Uint8Array>): Promise<string> {
  const hash = new crypto.DigestStream('SHA-256')
  const hashWriter = hash.getWriter()
  const reader = body.getReader({ mode: 'byob' })
  const writer = writable.getWriter()
  try {
    let buffer = new ArrayBuffer(BUFFER_BYTES)
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer))
      if (done) break
      await Promise.all([hashWriter.write(value), writer.write(value)])
      buffer = value.buffer
    }
    await Promise.all([hashWriter.close(), writer.close()])
  } catch (error) {
    await Promise.allSettled([reader.cancel(error), writer.abort(error), hashWriter.abort(error), hash.digest])
    throw error
  }
  return Buffer.from(await hash.digest).toString('hex')
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
