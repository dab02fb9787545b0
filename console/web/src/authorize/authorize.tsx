/** An app asks to be connected, and a person decides what it may do. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, useRouter } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { BUNDLE_NAMES, type Bundle } from '../../../../src/contracts.ts'
import { useMe } from '../api.ts'
import fieldStyles from '../components/field.module.css'
import { Check } from '../components/field.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { ProjectsField, toggled } from '../components/project-choice.tsx'
import { hasBundle, wordsOfBundle } from '../keys/purposes.ts'
import styles from './authorize.module.css'
import { askAbout, type ConsentRequest, decide } from './data.ts'
import { DEFAULT_DAYS, DecisionButtons, Duration, Frame, leaveTo, Warning } from './parts.tsx'

export const Route = createLazyRoute('/authorize')({ component: Authorize })

function Authorize() {
  // The query that the app wrote.
  const query = useRouter().history.location.search
  const { data, error, refetch } = useQuery({
    queryKey: ['consent', query],
    queryFn: () => askAbout(query),
    // Each answer can be used once.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  })
  const redirectTo = data && 'redirectTo' in data ? data.redirectTo : undefined
  useEffect(() => {
    document.title = 'Connect an app · Workspace'
    if (redirectTo !== undefined) leaveTo(redirectTo)
  }, [redirectTo])
  return (
    <Frame>
      {error ? (
        <>
          <h1>The app cannot be connected</h1>
          <ErrorNote error={error} retry={() => void refetch()} />
        </>
      ) : data && !('redirectTo' in data) ? (
        <Consent request={data} query={query} />
      ) : (
        <Skeleton />
      )}
    </Frame>
  )
}

interface ConsentProps {
  readonly request: ConsentRequest
  readonly query: string
}

function Consent({ request, query }: ConsentProps) {
  const { organization, user, apiKey: own } = useMe()
  const isOwn = (bundle: Bundle) => hasBundle(bundle, own.scopes)
  const asked = BUNDLE_NAMES.filter((bundle) => request.bundles.length === 0 || request.bundles.includes(bundle))
  const [bundles, setBundles] = useState<ReadonlySet<string>>(new Set(asked.filter(isOwn)))
  const [projectIds, setProjectIds] = useState(own.projectIds)
  const [days, setDays] = useState(DEFAULT_DAYS)
  const [handle, setHandle] = useState<string | undefined>(request.handle)
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: async (isAllowed: boolean) => {
      // A refused decision has used it up.
      const current = handle ?? (await askAbout(query))
      if (typeof current === 'object' && 'redirectTo' in current) return current
      setHandle(undefined)
      return decide({
        handle: typeof current === 'string' ? current : current.handle,
        isAllowed,
        bundles: BUNDLE_NAMES.filter((bundle) => bundles.has(bundle)),
        projectIds,
        days,
      })
    },
    onSuccess: ({ redirectTo }) => leaveTo(redirectTo),
  })
  const name = request.clientName
  const problem =
    bundles.size === 0 ? 'Tick what the app may do.' : projectIds?.length === 0 ? 'Choose the projects.' : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (problem === undefined) mutate(true)
  }
  return (
    <form className={fieldStyles.form} onSubmit={submit}>
      <h1 className="anywhere">
        Connect <bdi>{name}</bdi>
      </h1>
      <p className="anywhere">
        {request.clientDomain === null ? (
          'The app registered itself. Nobody has checked its name.'
        ) : (
          <>
            The app is published by <strong>{request.clientDomain}</strong>.
          </>
        )}{' '}
        It will work in <bdi>{organization.name}</bdi>
        {user && (
          <>
            {' '}
            as you, <bdi>{user.name}</bdi>
          </>
        )}
        , and you go back to <strong>{request.redirectHost}</strong>.
      </p>
      {request.isLocal && (
        <Warning>
          {request.redirectHost} is this computer: any program on it can use this name. Continue only if you have just
          started to connect an app here.
        </Warning>
      )}
      <fieldset>
        <legend>What it may do</legend>
        <div className={styles.bundles}>
          {BUNDLE_NAMES.map((bundle) => (
            <Check
              key={bundle}
              label={wordsOfBundle(bundle, own.scopes)}
              isChecked={bundles.has(bundle)}
              isDisabled={!isOwn(bundle)}
              onChange={() => setBundles(toggled(bundles, bundle))}
            />
          ))}
        </div>
      </fieldset>
      <ProjectsField projectIds={projectIds} onChange={setProjectIds} />
      <Duration days={days} onChange={setDays} />
      {error && <ErrorNote error={error} />}
      {problem !== undefined && <p className="quiet small">{problem}</p>}
      <DecisionButtons
        verb="Connect"
        isDecided={isPending || isSuccess}
        problem={problem}
        onCancel={() => mutate(false)}
      />
    </form>
  )
}
