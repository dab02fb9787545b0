/** How long runs are kept. */

const RUNS_KEPT_MS = 90 * 86_400_000

/** The time before which runs are deleted. */
export function oldestRunKept(now: Date): string {
  return new Date(now.getTime() - RUNS_KEPT_MS).toISOString()
}
