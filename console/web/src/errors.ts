/** Errors as sentences. */
import { WorkspaceError } from '../../../client/src/index.ts'

export { WorkspaceError }

/** What Chrome and Edge, Firefox and Safari say if there is no response. */
const UNREACHABLE = /^(?:Failed to fetch|Load failed)$|^NetworkError/

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return UNREACHABLE.test(message) ? 'The console is not reachable. Are you online?' : message
}
