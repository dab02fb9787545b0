/** What the console's Worker is asked about an app. */
import type { ConsentRequest, Decision, Departure } from '../../../src/oauth/consent.ts'
import { errorOf } from '../session.ts'
import { sessionFetch } from '../session-end.ts'

export type { ConsentRequest, Decision }

/** @param query the request of the app, as its address has it. @throws what is wrong with it. */
export async function askAbout(query: string): Promise<ConsentRequest | Departure> {
  return answerOf(await sessionFetch(new Request(`/oauth/consent${query}`)))
}

/** @throws why nothing was decided. */
export async function decide(decision: Decision): Promise<Departure> {
  const headers = { 'Content-Type': 'application/json' }
  return answerOf(
    await sessionFetch(new Request('/oauth/consent', { method: 'POST', headers, body: JSON.stringify(decision) })),
  )
}

/** @throws the error of the console. */
export async function answerOf<Answer>(response: Response): Promise<Answer> {
  if (!response.ok) throw new Error(await errorOf(response))
  return response.json()
}
