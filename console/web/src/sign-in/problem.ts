/** What the Worker says of a sign-in that failed. It is in the page that the identity provider sent the person to. */
import { PROBLEM_ELEMENT, type SignInProblem } from '../../../src/providers/problem.ts'
import { WorkspaceError } from '../errors.ts'
import { forgetOrganization } from '../session.ts'
import { wasSignedIn } from '../session-end.ts'

export type { SignInProblem }

let shown: SignInProblem | undefined

/** Takes the problem out of the page, whose address, with a code of the provider, becomes that of the sign-in page. */
export function takeProblem(): void {
  const element = document.getElementById(PROBLEM_ELEMENT)
  if (!element) return
  const problem: SignInProblem = JSON.parse(element.textContent)
  element.remove()
  shown = problem
  const { organization, to } = problem
  if (problem.reason === 'organization_unavailable') forgetOrganization()
  const path = organization === null ? '/sign-in' : `/sign-in/${encodeURIComponent(organization)}`
  const query = to === null || to === '/' ? '' : `?${new URLSearchParams({ next: to })}`
  history.replaceState(null, '', path + query)
}

/** The problem of the sign-in before, until another one succeeds. */
export const lastProblem = () => shown

export function forgetProblem(): void {
  shown = undefined
  end = undefined
}

let end: string | undefined

/** Remembers why the sign-in page is shown. @param error the 401 of the first request. */
export function noteEnd(error: unknown): void {
  const isSuspended = error instanceof WorkspaceError && error.code === 'organization_suspended'
  end = isSuspended ? error.message : wasSignedIn() ? 'Session ended. Sign in again.' : undefined
}

export const lastEnd = () => end
