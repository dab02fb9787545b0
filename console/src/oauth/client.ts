import { problemOfReceiver } from '../../../src/webhooks/receiver-url.ts'

/** @returns what is wrong with the ID of an app that is the URL of its metadata, which the Worker would fetch. */
export function problemOfClient(clientId: string): string | undefined {
  if (!/^https?:/i.test(clientId)) return undefined
  const problem = problemOfReceiver(clientId, false)
  return problem && `client_id ${problem.wrong}; allowed: ${problem.allowed}.`
}
