/** Revokes or rotates an API key, ends a session or disconnects an app, and says first what ends with it. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { meQuery, refresh, useMe } from '../api.ts'
import { Check, FormDialog } from '../components/field.tsx'
import type { MenuItem } from '../components/menu.tsx'
import { DEFAULT_OVERLAP, Overlap } from '../components/overlap.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { Time, useNow } from '../components/time.tsx'
import { queryClient } from '../connection.ts'
import { showMessage } from '../messages.ts'
import { labelOf, type Rule, rulesQuery, useMaySignIn } from '../sign-in-data.ts'
import { ConfirmingKey } from './confirming-key.tsx'
import {
  type ApiKey,
  type Children,
  creator,
  descendantsOf,
  disconnect,
  endsWith,
  isRefusal,
  type Kind,
  nameOf,
  revoke,
  stateOf,
  useIsOwnApp,
  useNeedsKey,
  withFreshSignIn,
} from './data.ts'
import styles from './keys.module.css'

export interface Ending {
  readonly apiKey: ApiKey
  readonly how: 'rotate' | 'revoke'
}

export function useEnding() {
  const [ending, setEnding] = useState<Ending>()
  return { ending, begin: setEnding, end: () => setEnding(undefined) }
}

export function canRotate(apiKey: ApiKey, now: Date): boolean {
  // Whoever rotates a key gets its token: an admin sees and revokes those of others.
  const user = queryClient.getQueryData(meQuery.queryKey)?.user
  const isOfOther = user !== null && user?.id !== apiKey.userId
  return apiKey.kind === 'key' && !isOfOther && apiKey.rotatedAt === null && stateOf(apiKey, now) !== 'expired'
}

export const END_VERBS: Readonly<Record<Kind, string>> = { key: 'Revoke', session: 'End', grant: 'Disconnect' }

/** What can be done to a key, a session or an app. */
export function endingsOf(apiKey: ApiKey, begin: (ending: Ending) => void): readonly MenuItem[] {
  const rotate = { label: 'Rotate', onSelect: () => begin({ apiKey, how: 'rotate' }) }
  const revoke = { label: END_VERBS[apiKey.kind], isDangerous: true, onSelect: () => begin({ apiKey, how: 'revoke' }) }
  return canRotate(apiKey, new Date()) ? [rotate, revoke] : [revoke]
}

interface EndKeyProps {
  readonly ending: Ending
  readonly tree: Children
  /** Called when it is done. */
  readonly onDone?: (() => void) | undefined
  readonly onClose: () => void
}

export function EndKey({ ending: { apiKey, how }, ...rest }: EndKeyProps) {
  return how === 'rotate' ? <Rotate apiKey={apiKey} {...rest} /> : <Revoke apiKey={apiKey} {...rest} />
}

type DialogProps = Omit<EndKeyProps, 'ending'> & { readonly apiKey: ApiKey }

function Revoke({ apiKey, tree, onDone, onClose }: DialogProps) {
  const { id, kind, identityId } = apiKey
  const name = nameOf(apiKey)
  const what = (the: string) => (kind === 'session' ? `${the} sign-in ${identityId ? 'of' : 'with'} ${name}` : name)
  const { apiKey: own } = useMe()
  const { consequence, done } = REVOCATIONS[kind]
  const [withDescendants, setWithDescendants] = useState(false)
  const made = descendantsOf(id, tree).filter((each) => each.kind === 'key')
  const endings = endsWith(apiKey, tree, withDescendants)
  const isOwnEnd = id === own.id || endings.some((each) => each.id === own.id)
  const rules = useRulesOf([apiKey, ...descendantsOf(id, tree)])
  const isOwnApp = useIsOwnApp(tree)(apiKey)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => (isOwnApp ? disconnect(id) : revoke(id, withDescendants)),
    onSuccess: async (descendants) => {
      const others = descendants > 0 ? ` and ${descendants} ${descendants === 1 ? 'other' : 'others'}` : ''
      showMessage(`${what('The')}${others} ${done}.`)
      onClose()
      onDone?.()
      await refresh('api-keys', 'me')
    },
  })
  return (
    <FormDialog
      title={`${END_VERBS[kind]} ${what('the')}?`}
      verb={END_VERBS[kind]}
      isDangerous
      draft={null}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <p>{consequence}</p>
      {isOwnEnd && <p className={styles.warning}>It ends your own sign-in: you are signed out.</p>}
      {/* An app creates no key. */}
      {kind !== 'grant' && (made.length > 0 || rules.length > 0 || hasGone(tree)) && (
        <Check
          label={
            made.length === 0
              ? rules.length === 0
                ? 'Also revoke what was created with it, by way of keys that are gone'
                : 'Also end what was created with it'
              : made.length === 1
                ? 'Also revoke the key that was created with it'
                : `Also revoke the ${made.length} keys that were created with it, directly or indirectly`
          }
          isChecked={withDescendants}
          onChange={setWithDescendants}
        />
      )}
      {(endings.length > 0 || (withDescendants && rules.length > 0)) && (
        <section className={styles.body} aria-label="What ends with it">
          <h3>Ends with it</h3>
          <ul className={styles.endings}>
            {endings.map((each) => (
              <li key={each.id} className="anywhere">
                <bdi>{nameOf(each)}</bdi>
                {each.kind === 'grant' && <span className="quiet">, connected app</span>}
                {each.kind === 'session' && (
                  <span className="quiet">
                    {', sign-in: '}
                    <Time at={each.createdAt} />
                  </span>
                )}
              </li>
            ))}
            {withDescendants &&
              rules.map((rule) => (
                <li key={rule.id} className="anywhere">
                  <bdi>{labelOf(rule)}</bdi>
                  <span className="quiet">, sign-in rule, with the sign-ins and apps of whom it admitted</span>
                </li>
              ))}
          </ul>
        </section>
      )}
      {withDescendants && hasGone(tree) && (
        <p className="quiet small">And keys that were created by way of keys that are gone, if there are any.</p>
      )}
    </FormDialog>
  )
}

const REVOCATIONS: Readonly<Record<Kind, Readonly<Record<'consequence' | 'done', string>>>> = {
  key: { consequence: 'The next request with this key is refused.', done: 'revoked' },
  session: { consequence: 'The next request of that browser is refused.', done: 'ended' },
  grant: {
    consequence: 'The next request of the app is refused. To use it again, connect it again.',
    done: 'disconnected',
  },
}

/** The sign-in rules that were created or changed last with one of these keys. */
function useRulesOf(keys: readonly ApiKey[]): readonly Rule[] {
  const may = useMaySignIn()
  const { data: rules = [] } = useQuery({ ...rulesQuery, enabled: may.read })
  const ids = new Set<string | null>(keys.map(({ id }) => id))
  return rules.filter(({ createdByKeyId }) => ids.has(createdByKeyId))
}

/** True if a key names a creator that is not listed: one that was revoked, or that the session may not see. */
function hasGone(tree: Children): boolean {
  const ids = new Set(Array.from(tree.values()).flatMap((keys) => keys.map(({ id }) => id)))
  return Array.from(tree.keys()).some((creatorId) => creatorId !== null && !ids.has(creatorId))
}

const MAX_SESSION_SECONDS = 12 * 3600

function Rotate({ apiKey, tree, onDone, onClose }: DialogProps) {
  const { id, name, expiresAt } = apiKey
  const { apiKey: own } = useMe()
  const now = useNow()
  const [overlapSeconds, setOverlapSeconds] = useState(DEFAULT_OVERLAP)
  const [entered, setEntered] = useState('')
  const [token, setToken] = useState<string>()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const [isRefused, setIsRefused] = useState(false)
  const needsKey = useNeedsKey(isRefused)(expiresAt)
  const signedIn = endsWith(apiKey, tree, false).filter(({ kind }) => kind === 'session')
  const isOwn = signedIn.some((session) => session.id === own.id)
  const isShortened = overlapSeconds < MAX_SESSION_SECONDS
  const { mutate, isPending, error } = useMutation({
    // What it returns and what it takes would be kept: the token and the API key are in the state of the dialog only.
    gcTime: 0,
    mutationFn: async () => {
      const { apiKeys } = await creator(needsKey ? entered : undefined)
      const rotate = () => apiKeys.rotate(id, { overlapSeconds }, { idempotencyKey })
      const successor = await withFreshSignIn(rotate).catch((failure: unknown) => {
        setIsRefused(isRefusal(failure))
        throw failure
      })
      setEntered('')
      setToken(successor.token)
    },
  })
  if (token !== undefined) {
    const close = () => {
      setToken(undefined)
      onClose()
      onDone?.()
      void refresh('api-keys', 'me')
    }
    return (
      <SecretOnce title={`The new token of ${name}`} word="token" secret={token} onClose={close}>
        {overlapSeconds > 0 ? (
          <>
            The old one is valid until <Time at={new Date(now.getTime() + overlapSeconds * 1000).toISOString()} />.
          </>
        ) : (
          'The old one has ended.'
        )}
      </SecretOnce>
    )
  }
  return (
    <FormDialog
      title={`Rotate ${name}`}
      verb="Rotate"
      draft={null}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <p>A new key with the same permissions takes its place, with a new token.</p>
      <Overlap word="token" value={overlapSeconds} onChange={setOverlapSeconds} />
      {isShortened && signedIn.length > 0 && (
        <p className={isOwn ? styles.warning : 'quiet'}>
          {isOwn
            ? 'You signed in with this key: your sign-in ends with the old token.'
            : `${signedIn.length} ${signedIn.length === 1 ? 'sign-in' : 'sign-ins'} with it end with the old token.`}
        </p>
      )}
      {needsKey && <ConfirmingKey value={entered} onChange={setEntered} />}
    </FormDialog>
  )
}
