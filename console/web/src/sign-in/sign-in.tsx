/** Sign in with an identity provider, or with an API key, for which the service makes a session. */
import { useMutation } from '@tanstack/react-query'
import { createLazyRoute, useRouter } from '@tanstack/react-router'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { queryClient } from '../api.ts'
import { ErrorNote } from '../components/note.tsx'
import { Toasts } from '../components/toast.tsx'
import { rememberOrganization, type SignInWays, signIn } from '../session.ts'
import { forgetProblem, lastProblem } from './problem.ts'
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
  useEffect(() => {
    document.title = 'Sign in · Workspace'
  }, [])
  return (
    <main className={styles.page}>
      <div className={styles.form}>
        <img src="/icon.svg" alt="" width="32" height="32" />
        <h1>Sign in to Workspace</h1>
        {problem && <ProblemNote problem={problem} />}
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
      <Toasts />
    </main>
  )
}

function queryOf({ organization, next }: Where): string {
  const query = new URLSearchParams({ ...(organization && { organization }), ...(next && { to: next }) }).toString()
  return query && `?${query}`
}

function WithKey({ organization, next, isAlone }: Where & { readonly isAlone: boolean }) {
  const router = useRouter()
  const [apiKey, setApiKey] = useState('')
  const ids = { field: useId(), help: useId() }
  const { mutate, isPending, error } = useMutation({
    mutationFn: signIn,
    onSuccess: async () => {
      queryClient.clear()
      forgetProblem()
      rememberOrganization(organization)
      // Another address than a path of this origin is not one of the console.
      router.history.push(next && /^\/(?![/\\])/.test(next) ? next : '/')
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    mutate(apiKey.trim())
  }
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <div className={styles.field}>
        <label htmlFor={ids.field}>API key</label>
        <input
          id={ids.field}
          type="password"
          name="apiKey"
          // biome-ignore lint/a11y/noAutofocus: the page has nothing else.
          autoFocus={isAlone}
          required
          autoComplete="current-password"
          spellCheck={false}
          aria-describedby={ids.help}
          aria-invalid={error !== null}
          value={apiKey}
          onChange={(event) => setApiKey(event.target.value)}
        />
        <p id={ids.help} className="quiet small">
          The key itself is not kept. It makes a session with the same permissions, which ends after 12 hours, with the
          key, or when you sign out.
        </p>
      </div>
      {error && <ErrorNote error={error} />}
      <button type="submit" data-kind={isAlone ? 'primary' : undefined} disabled={isPending || apiKey.trim() === ''}>
        {isPending ? 'Signing in …' : isAlone ? 'Sign in' : 'Sign in with the API key'}
      </button>
    </form>
  )
}
