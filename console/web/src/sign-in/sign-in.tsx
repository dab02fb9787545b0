/** Sign in with an identity provider, or with an API key, for which the service makes a session. */
import { createLazyRoute, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ErrorNote } from '../components/note.tsx'
import { queryClient } from '../connection.ts'
import { rememberOrganization } from '../session.ts'
import type { SignInWays } from '../sign-in-ways.ts'
import { KeyForm } from './key-form.tsx'
import { forgetProblem, lastEnd, lastProblem } from './problem.ts'
import { ProblemNote } from './problem-note.tsx'
import styles from './sign-in.module.css'

export const Route = createLazyRoute('/sign-in')({ component: AnyOrganization })

/** The people of one organization have their own address. */
export const OrganizationRoute = createLazyRoute('/sign-in/$organizationId')({ component: OneOrganization })

interface Where {
  readonly organization: string | undefined
  /** The page to open afterwards. */
  readonly next: string | undefined
}

function AnyOrganization() {
  const { next } = Route.useSearch()
  return <SignIn organization={undefined} next={next} found={Route.useLoaderData()} />
}

function OneOrganization() {
  const { organizationId } = OrganizationRoute.useParams()
  const { next } = OrganizationRoute.useSearch()
  return <SignIn organization={organizationId} next={next} found={OrganizationRoute.useLoaderData()} />
}

const ONLY_KEYS: SignInWays = { providers: [], hasApiKeys: true, needsOrganization: false, problems: [] }

/** @param found an error if the ways could not be read: a key may still work. */
function SignIn({ found, ...where }: Where & { readonly found: SignInWays | Error }) {
  const { providers, hasApiKeys, needsOrganization, problems } = found instanceof Error ? ONLY_KEYS : found
  const errors = found instanceof Error ? [found] : problems.map((each) => new Error(each))
  const problem = lastProblem()
  const endNote = lastEnd()
  useEffect(() => {
    document.title = 'Sign in · Workspace'
  }, [])
  return (
    <main className={styles.page}>
      <div className={styles.form}>
        <img src="/icon.svg" alt="" width="32" height="32" />
        <h1>Sign in to Workspace</h1>
        {problem ? <ProblemNote problem={problem} /> : endNote && <p role="status">{endNote}</p>}
        {errors.map((error) => (
          <ErrorNote key={error.message} error={error} />
        ))}
        {providers.length > 0 && (
          <ul className={styles.providers}>
            {providers.map(({ id, name }, index) => (
              <li key={id}>
                <a
                  className="button"
                  data-kind={index === 0 ? 'primary' : undefined}
                  href={`/sign-in/start/${id}${queryOf(where)}`}
                  onClick={() => rememberOrganization(where.organization)}
                >
                  Continue with {name}
                </a>
              </li>
            ))}
          </ul>
        )}
        {needsOrganization && (
          <p className="quiet small">
            To sign in with {providers.length > 0 ? 'another' : 'an'} identity provider, open the address of your
            organization’s sign-in page. Your admin has it.
          </p>
        )}
        {providers.length > 0 && hasApiKeys && <p className={styles.or}>or</p>}
        {hasApiKeys && <WithKey {...where} isAlone={providers.length === 0} />}
        {providers.length === 0 && !hasApiKeys && !needsOrganization && (
          <p>No identity provider is set up for this address. Ask the operator of the console.</p>
        )}
      </div>
    </main>
  )
}

function queryOf({ organization, next }: Where): string {
  const query = new URLSearchParams({ ...(organization && { organization }), ...(next && { to: next }) }).toString()
  return query && `?${query}`
}

function WithKey({ organization, next, isAlone }: Where & { readonly isAlone: boolean }) {
  const router = useRouter()
  const onSignedIn = async () => {
    queryClient.clear()
    forgetProblem()
    rememberOrganization(organization)
    // Another address than a path of this origin is not one of the console.
    router.history.push(next && /^\/(?![/\\])/.test(next) ? next : '/')
  }
  return <KeyForm isAlone={isAlone} onSignedIn={onSignedIn} />
}
