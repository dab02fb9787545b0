/** Errors as sentences. */
import { WorkspaceError } from '../../../client/src/index.ts'

export { WorkspaceError }

/** What browsers say if there is no response, of a request and of a part of the console. */
const UNREACHABLE =
  /^(?:Failed to fetch|Load failed|network error)$|^NetworkError|dynamically imported module|module script failed|^Unable to preload/i

export const isUnreachable = (error: unknown) =>
  error instanceof Error && (UNREACHABLE.test(error.message) || error.name === 'TimeoutError')

export function messageOf(error: unknown): string {
  if (isUnreachable(error)) return 'The console is not reachable. Are you online?'
  return error instanceof Error ? error.message : String(error)
}
