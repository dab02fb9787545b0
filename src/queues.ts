/** The largest batch that a queue accepts. */
const BATCH_SIZE = 100

/** Puts messages into a queue, in order. */
export async function sendAll<Body>(queue: Queue<Body>, bodies: readonly Body[]): Promise<void> {
  const messages = bodies.map((body) => ({ body }))
  for (let start = 0; start < messages.length; start += BATCH_SIZE) {
    await queue.sendBatch(messages.slice(start, start + BATCH_SIZE))
  }
}
