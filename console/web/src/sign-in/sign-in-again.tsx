/** The session has ended, or a person confirms who they are: they sign in over the page, which stays as it is. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ComponentProps, useEffect, useRef } from 'react'
import { continueSignedIn, useMe } from '../api.ts'
import { Dialog, DialogActions } from '../components/dialog.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { readSignInWays, rememberOrganization } from '../session.ts'
import { dismiss, type Reason, type SessionEnd } from '../session-end.ts'
import { KeyForm } from './key-form.tsx'
import styles from './sign-in.module.css'

const TITLES: Readonly<Record<Reason, string>> = {
  ended: 'Session ended',
  suspended: 'Organization suspended',
  confirm: 'Confirm it is you',
}

export default function SignInAgain({ end: { reason } }: { readonly end: SessionEnd }) {
  return (
    <Dialog title={TITLES[reason]} onClose={dismiss}>
      <div className={styles.again}>
        {reason === 'suspended' ? <Suspended /> : <Ways reason={reason} />}
        <DialogActions>
          {reason !== 'confirm' && (
            <button type="button" onClick={() => location.assign('/sign-in')}>
              Sign-in page
            </button>
          )}
          <button type="button" onClick={dismiss}>
            Not now
          </button>
        </DialogActions>
      </div>
    </Dialog>
  )
}

function Suspended() {
  const { organization } = useMe()
  const { mutate, isPending, error } = useMutation({ mutationFn: continueSignedIn })
  return (
    <>
      <p>
        The operator has suspended <bdi>{organization.name}</bdi>. Nothing can be read or changed until it is resumed.
        What you typed is kept.
      </p>
      {error && <ErrorNote error={error} />}
      <First disabled={isPending} onClick={() => mutate()}>
        Try again
      </First>
    </>
  )
}

/** What most people do. It has the focus as soon as it is there. */
function First(props: ComponentProps<'button'>) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  return <button {...props} ref={button} type="button" data-kind="primary" />
}

function Ways({ reason }: { readonly reason: Reason }) {
  const { id: organization } = useMe().organization
  const { data } = useQuery({
    queryKey: ['sign-in-ways', organization],
    queryFn: () => readSignInWays(organization),
    gcTime: 0,
  })
  if (data === undefined) return <Skeleton rows={2} />
  const { providers, hasApiKeys } = data instanceof Error ? { providers: [], hasApiKeys: true } : data
  // A session of an API key confirms nothing.
  const mayEnterKey = hasApiKeys && reason !== 'confirm'
  const query = (to: string) => new URLSearchParams({ organization, to })
  const open = (id: string) => {
    const address = `/sign-in/start/${encodeURIComponent(id)}?`
    rememberOrganization(organization)
    // Identity providers refuse to be shown in a frame. A browser may refuse to open a window.
    const opened = window.open(`${address}${query('/signed-in')}`, 'sign-in', 'popup,width=480,height=720')
    if (opened === null) location.assign(`${address}${query(location.pathname + location.search)}`)
  }
  return (
    <>
      <p>
        {reason === 'confirm' ? 'Sign in again to continue.' : 'Sign in again to continue. What you typed is kept.'}
      </p>
      {data instanceof Error && <ErrorNote error={data} />}
      {providers.map(({ id, name }, index) => {
        const Button = index === 0 ? First : 'button'
        return (
          <Button key={id} type="button" onClick={() => open(id)}>
            Continue with {name}
          </Button>
        )
      })}
      {providers.length > 0 && mayEnterKey && <p className={styles.or}>or</p>}
      {mayEnterKey && <KeyForm isAlone={providers.length === 0} onSignedIn={continueSignedIn} />}
    </>
  )
}
