/** One attempt to send a run to a run endpoint. */
import { readUpTo } from '../../../http/body.ts'
import { describeProblems } from '../../../http/problems.ts'
import { signedHeaders } from '../run-endpoint/signature.ts'
import type { Accepted, AttemptResult } from '../run-transitions.ts'
import { reportedOutcome } from '../runs/contract.ts'
import type { Work } from '../runs/work.ts'

/** How long a receiver may take to respond. */
const TIMEOUT_SECONDS = 15
/** The largest response whose body is read for an outcome. */
const MAX_RESPONSE_BYTES = 16 * 1024

/**
 * Sends a run (docs/contract.md, Run endpoint). All attempts to send a run have the same id.
 * @param data the run, as it is sent.
 */
export async function attempt(data: Work, url: string, secrets: readonly string[], now: Date): Promise<AttemptResult> {
  const body = JSON.stringify({ type: 'schedule.run', timestamp: data.scheduledAt, data })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Workspace-API',
        ...signedHeaders(data.id, now, body, secrets),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    })
    return await resultOf(response)
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { error: isLate ? `No response within ${TIMEOUT_SECONDS} seconds.` : 'The connection failed.' }
  }
}

async function resultOf(response: Response): Promise<AttemptResult> {
  const { status } = response
  // The run is accepted, even if its body cannot be read.
  if (status === 200) return { isAccepted: true, ...(await reportOf(response).catch(() => ({}))) }
  await response.body?.cancel()
  if (status >= 200 && status < 300) return { isAccepted: true }
  if (status === 410) return { isGone: true }
  return { error: `HTTP ${status}${status >= 300 && status < 400 ? ': redirects are not followed' : ''}` }
}

/** The outcome in the body of a response. A body that is no object with an `outcome` is ignored. */
async function reportOf(response: Response): Promise<Pick<Accepted, 'report' | 'ignored'>> {
  const bytes = await readUpTo(MAX_RESPONSE_BYTES, response.body)
  const data = bytes && objectIn(bytes)
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
