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
  return forPeople(error instanceof Error ? error.message : String(error))
}

/** Advice to programs: an operation of the API, or a parameter to send. */
const FOR_PROGRAMS = /\b(?:GET|PUT|POST|PATCH|DELETE)\b|^(?:Send|Name|Check)\b.* \w+Id\b/

/** An error of the service in the words of the console, which knows no operations and no parameters. */
function forPeople(message: string): string {
  const clauses = message
    // What was sent is in the field, and may be shown in part only.
    .replace(/^url (.+?); got .+?; allowed: /, (_all, wrong) =>
      wrong === 'is not a URL' ? 'This is not a URL. Allowed: ' : `The URL ${wrong}. Allowed: `,
    )
    .replace(/\bno (.+?) with this \w+Id\b/, 'no such $1')
    .replace(/(?<=\. )(?:GET|DELETE) \/v1\/deletions\S*/, 'The page Deleted')
    .replace(/(?<=; )(?:GET|DELETE) \/v1\/deletions\S*/, 'the page Deleted')
    .split(/(?<=[.;]) /)
  const kept = clauses.filter((clause, index) => index === 0 || !FOR_PROGRAMS.test(clause))
  return kept.join(' ').replace(/;$/, '.')
}
