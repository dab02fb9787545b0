/** The command `workspace` asks for a key, and a person decides. */
import { useMutation } from '@tanstack/react-query'
import { createLazyRoute, useRouter } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { addressOfCommand, type LoginRequest, parseLoginRequest } from '../../../src/command-login/request.ts'
import { useMe } from '../api.ts'
import { DEFAULT_DAYS, DecisionButtons, Duration, Frame, leaveTo, Warning } from '../authorize/parts.tsx'
import fieldStyles from '../components/field.module.css'
import { ErrorNote } from '../components/note.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { allowLogin } from './data.ts'

export const Route = createLazyRoute('/login')({ component: Login })

function Login() {
  // The query that the command wrote.
  const query = useRouter().history.location.search
  const request = parseLoginRequest(query)
  useEffect(() => {
    document.title = 'Log in · Workspace'
  }, [])
  return (
    <Frame>
      {typeof request === 'string' ? (
        <>
          <h1>The command cannot be logged in</h1>
          <ErrorNote error={new Error(`${request} Run \`workspace login\` again.`)} />
        </>
      ) : (
        <Decision request={request} query={query} />
      )}
    </Frame>
  )
}

interface DecisionProps {
  readonly request: LoginRequest
  readonly query: string
}

function Decision({ request, query }: DecisionProps) {
  const { machine, port, state } = request
  const { organization, user } = useMe()
  const [days, setDays] = useState(DEFAULT_DAYS)
  const [isOver, setIsOver] = useState(false)
  const { mutate, data, isPending, isSuccess, error, reset } = useMutation({
    mutationFn: () => allowLogin({ query, days }),
    onSuccess: ({ code }) => {
      if (port !== null) leaveTo(addressOfCommand(port, { code, state }))
    },
    // The code is not kept.
    gcTime: 0,
  })
  if (isOver) {
    return (
      <>
        <h1>That is all</h1>
        <p>You can close this page.</p>
      </>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  const cancel = () => {
    if (port === null) setIsOver(true)
    else leaveTo(addressOfCommand(port, { error: 'access_denied', state }))
  }
  return (
    <form className={fieldStyles.form} onSubmit={submit}>
      <h1 className="anywhere">Log in on {machine}</h1>
      <p className="anywhere">
        The command <code>workspace</code> on a computer that calls itself <strong>{machine}</strong> will work in{' '}
        <bdi>{organization.name}</bdi>
        {user && (
          <>
            {' '}
            as you, <bdi>{user.name}</bdi>
          </>
        )}
        . It may do everything that you may do here.
      </p>
      <Warning>
        Continue only if you have just run <code>workspace login</code> yourself. If somebody sent you here, cancel.
      </Warning>
      <Duration days={days} onChange={setDays} />
      {error && <ErrorNote error={error} />}
      <DecisionButtons verb="Allow" isDecided={isPending || isSuccess} onCancel={cancel} />
      {port === null && data && (
        <SecretOnce
          title="Your code"
          word="code"
          secret={data.code}
          onClose={() => {
            reset()
            setIsOver(true)
          }}
        >
          Paste it into the terminal within two minutes. Give it to nobody: it logs a computer in as you.
        </SecretOnce>
      )}
    </form>
  )
}
