/** One attempt to send a run to a run endpoint. */
import { describeProblems } from '../../../http/problems.ts'
import { post } from '../../../webhooks/post.ts'
import { signedHeaders } from '../../../webhooks/signature.ts'
import type { AttemptResult } from '../run-transitions.ts'
import { reportedOutcome } from '../runs/contract.ts'
import type { Work } from '../runs/work.ts'

/** The largest outcome in a response. */
const MAX_OUTCOME_BYTES = 16 * 1024

/**
 * Sends a run (docs/contract-work.md, Run endpoint). All attempts to send a run have the same id.
 * @param data the run, as it is sent.
 */
export async function sendRun(data: Work, url: string, secrets: readonly string[], now: Date): Promise<AttemptResult> {
  const message = JSON.stringify({ type: 'schedule.run', timestamp: data.scheduledAt, data })
  const headers = await signedHeaders(data.id, now, message, secrets)
  const { attempt, body } = await post(url, headers, message, MAX_OUTCOME_BYTES)
  return { attempt, ...reportOf(body) }
}

/** The outcome in the body of a response. A body that is no object with an `outcome` is ignored. */
function reportOf(body: ArrayBuffer | undefined): Omit<AttemptResult, 'attempt'> {
  const data = body && objectIn(body)
  if (!data || !('outcome' in data)) return {}
  const { success, data: report, error } = reportedOutcome.safeParse(data)
  if (success) return { report }
  const problems = describeProblems(error.issues, { schema: reportedOutcome, data, isSecret: false })
  return { ignored: `The outcome in the response was ignored: ${problems}` }
}

function objectIn(bytes: ArrayBuffer): object | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
