/** What the console's Worker does for the command. */

import type { LoginCode, LoginDecision } from '../../../src/command-login/request.ts'
import { answerOf } from '../authorize/data.ts'
import { sessionFetch } from '../session-end.ts'

/** @throws why the command gets no key. */
export async function allowLogin(decision: LoginDecision): Promise<LoginCode> {
  const headers = { 'Content-Type': 'application/json' }
  return answerOf(
    await sessionFetch(new Request('/login/allow', { method: 'POST', headers, body: JSON.stringify(decision) })),
  )
}
