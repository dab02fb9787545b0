/**
 * The internet of the tests, in Node: receivers at `https://hooks.example.com/{box}`, of which each remembers
 * what it was sent and answers as it was told to at `https://control.example.com/{box}`.
 */
import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Answer, Received } from './receiver.ts'

interface Box {
  answers: Answer[]
  readonly received: Received[]
  /** Lets the answers that wait go. */
  readonly waiting: (() => void)[]
}

/** What the tests have seen is told here, and appended to the file that the variable of this name names. */
const SEEN_FAILURES = 'seen-failures.example.com'

const boxes = new Map<string, Box>()

export async function receiverService(request: Request): Promise<Response> {
  const { hostname, pathname } = new URL(request.url)
  if (hostname === SEEN_FAILURES) {
    if (process.env.SEEN_FAILURES) appendFileSync(process.env.SEEN_FAILURES, await request.text())
    return new Response()
  }
  const box = boxes.get(pathname) ?? { answers: [200], received: [], waiting: [] }
  boxes.set(pathname, box)
  if (hostname === 'control.example.com') {
    if (request.method === 'PUT') box.answers = (await request.json()) as Answer[]
    if (request.method === 'POST') for (const answer of box.waiting.splice(0)) answer()
    return Response.json(box.received)
  }
  if (hostname !== 'hooks.example.com') throw new Error(`There is no ${hostname}`)
  const headers = Object.fromEntries(request.headers)
  box.received.push({ method: request.method, headers, body: await request.text() })
  // The last answer is for good.
  let answer = (box.answers.length > 1 ? box.answers.shift() : box.answers[0]) ?? 200
  if (answer === 'wait') {
    await new Promise<void>((resolve) => box.waiting.push(resolve))
    answer = 200
  }
  if (answer === 'break') throw new Error('The connection is broken')
  if (typeof answer === 'string') return Response.redirect(`https://hooks.example.com/${answer}`, 307)
  if (typeof answer === 'object') {
    const { body, status = 200, headers = {}, waitMs = 0, isEndless = false } = answer
    await setTimeout(waitMs)
    return new Response(isEndless ? endless(body) : body, { status, headers })
  }
  const mayHaveBody = answer !== 204 && answer !== 205 && answer !== 304
  return new Response(mayHaveBody ? 'An answer that nobody reads' : null, { status: answer })
}

/** A body that begins with a text and never ends. */
function endless(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) })
}
