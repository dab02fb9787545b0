/** The bytes of the stream, or undefined if it has more than the limit. */
export async function readUpTo(
  limitBytes: number,
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): Promise<ArrayBuffer | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > limitBytes) return undefined
    chunks.push(chunk)
  }
  return new Blob(chunks).arrayBuffer()
}
