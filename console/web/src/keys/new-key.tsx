/** The form of a new API key. It offers what the session may grant: its own scopes, projects and user. */

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { refresh, useCan, useMe } from '../api.ts'
import fieldStyles from '../components/field.module.css'
import { Check, Field, FormDialog } from '../components/field.tsx'
import { ProjectsField, toggled } from '../components/project-choice.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { useDraft } from '../drafts.ts'
import { useNames } from '../names.ts'
import { DAY_MS, toDate } from '../time.ts'
import { ConfirmingKey } from './confirming-key.tsx'
import {
  creator,
  isRefusal,
  lastEndOfSignIn,
  type NewApiKey,
  useIsAdmin,
  useNeedsKey,
  withFreshSignIn,
} from './data.ts'
import styles from './keys.module.css'
import { groupsOf, purposesFor, verbOf } from './purposes.ts'

const LEASE = 'environment-variables:lease'

/** How long it lives. */
const LIVES = ['session', '7', '30', '90', '365', 'never', 'date'] as const
type Life = (typeof LIVES)[number]

const LIFE_NAMES: Readonly<Record<Life, string>> = {
  session: 'As long as this sign-in',
  '7': '7 days',
  '30': '30 days',
  '90': '90 days',
  '365': 'A year',
  never: 'For ever',
  date: 'Until a day',
}

const ACTS_AS =
  'A key that acts as a person changes the pins and the picture of that person, and Activity names the person. Nobody is for programs, such as CI jobs.'

export const NEW_KEY = 'api-key'

interface Fields {
  readonly name: string
  readonly purpose: string
  readonly scopes: ReadonlySet<string>
  readonly userId: string
  readonly projectIds: readonly string[] | null
  readonly life: Life
  /** The last day, if it lives until a day. */
  readonly day: string
  /** A second attempt creates no other key. */
  readonly idempotencyKey: string
}

export function NewKey({ onClose }: { readonly onClose: () => void }) {
  const { user, apiKey: own } = useMe()
  const can = useCan()
  const users = useNames('users')
  const isAdmin = useIsAdmin()
  // By no role, but an admin may give it.
  const grantable = isAdmin ? Array.from(new Set([...own.scopes, LEASE])) : own.scopes
  const purposes = purposesFor(own.scopes, grantable)
  const [fields, setFields, draft] = useDraft<Fields>(NEW_KEY, () => ({
    name: '',
    purpose: purposes[0]?.name ?? '',
    scopes: new Set(purposes[0]?.scopes),
    userId: user?.id ?? '',
    projectIds: own.projectIds,
    life: '90',
    day: '',
    idempotencyKey: crypto.randomUUID(),
  }))
  const { name, purpose, scopes, userId, projectIds, life, day, idempotencyKey } = fields
  const set = (changed: Partial<Fields>) => setFields((before) => ({ ...before, ...changed }))
  const [entered, setEntered] = useState('')
  const [token, setToken] = useState<string>()
  const expiresAt = endOf(life, day, own.expiresAt)
  const [isRefused, setIsRefused] = useState(false)
  const needsKey = useNeedsKey(isRefused)(expiresAt)
  const { mutate, isPending, error } = useMutation({
    // What it returns and what it takes would be kept: the token and the API key are in the state of the dialog only.
    gcTime: 0,
    mutationFn: async () => {
      const { apiKeys } = await creator(needsKey ? entered : undefined)
      const body = {
        name: name.trim(),
        scopes: Array.from(scopes) as NewApiKey['scopes'],
        userId: userId || null,
        projectIds: projectIds && Array.from(projectIds),
        expiresAt,
      }
      const created = await withFreshSignIn(() => apiKeys.create(body, { idempotencyKey })).catch(
        (failure: unknown) => {
          setIsRefused(isRefusal(failure))
          throw failure
        },
      )
      draft.drop()
      setEntered('')
      setToken(created.token)
    },
  })
  if (token !== undefined) {
    const close = () => {
      setToken(undefined)
      onClose()
      void refresh('api-keys')
    }
    return <SecretOnce title={`The token of ${name.trim()}`} word="token" secret={token} onClose={close} />
  }
  const choose = (chosen: string) => {
    const found = purposes.find((each) => each.name === chosen)
    set({
      purpose: chosen,
      scopes: new Set(found?.scopes),
      ...(found?.isForProjects && { projectIds: projectIds ?? [] }),
    })
  }
  const problem =
    isAdmin && scopes.has(LEASE) && projectIds === null
      ? 'To lease environment variables, choose the projects.'
      : projectIds?.length === 0
        ? 'Choose the projects.'
        : scopes.size === 0
          ? 'Tick what the key may do.'
          : undefined
  return (
    <FormDialog
      title="New key"
      verb="Create"
      draft={draft}
      isPending={isPending}
      error={error}
      problem={problem}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label="Name" help="Who or what uses it, such as laptop or build machine.">
        {(attributes) => (
          <input
            {...attributes}
            required
            maxLength={255}
            value={name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Field>
      <Field label="Purpose">
        {(attributes) => (
          <select {...attributes} value={purpose} onChange={({ target }) => choose(target.value)}>
            {purposes.map((each) => (
              <option key={each.name}>{each.name}</option>
            ))}
          </select>
        )}
      </Field>
      <details open={purpose === 'Something else'}>
        <summary>{`What it may do: ${scopes.size} of ${grantable.length}`}</summary>
        <Scopes own={grantable} chosen={scopes} onChange={(chosen) => set({ scopes: chosen })} />
      </details>
      {scopes.has('users:write') && userId === '' && projectIds === null && (
        <p className={styles.warning}>With users: write, it can delete any user with all keys of the user.</p>
      )}
      {scopes.has('skill-feeds:write') && !scopes.has('skills:read') && (
        <p className={styles.warning}>With skill feeds: write, it publishes any skill, without skills: read.</p>
      )}
      {isAdmin && user ? (
        <Field label="Acts as" help={ACTS_AS}>
          {(attributes) => (
            <select {...attributes} value={userId} onChange={({ target }) => set({ userId: target.value })}>
              <option value={user.id}>You, {user.name}</option>
              <option value="">Nobody</option>
            </select>
          )}
        </Field>
      ) : user ? (
        <p>
          It acts as you, <bdi>{user.name}</bdi>.
        </p>
      ) : (
        can('users:read') && (
          <Field label="Acts as" help={ACTS_AS}>
            {(attributes) => (
              <select {...attributes} value={userId} onChange={({ target }) => set({ userId: target.value })}>
                <option value="">Nobody</option>
                {Array.from(users, ([id, userName]) => (
                  <option key={id} value={id}>
                    {userName}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )
      )}
      <ProjectsField projectIds={projectIds} onChange={(chosen) => set({ projectIds: chosen })} />
      <Field label="How long it is valid" help={expiresAt && `Until ${toDate(new Date(expiresAt))}.`}>
        {(attributes) => (
          <select {...attributes} value={life} onChange={({ target }) => set({ life: target.value as Life })}>
            {LIVES.map((each) => (
              <option key={each} value={each}>
                {LIFE_NAMES[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {life === 'date' && (
        <Field label="Last day">
          {(attributes) => (
            <input
              {...attributes}
              type="date"
              required
              min={toDay(new Date())}
              value={day}
              onChange={({ target }) => set({ day: target.value })}
            />
          )}
        </Field>
      )}
      {needsKey && <ConfirmingKey value={entered} onChange={setEntered} />}
    </FormDialog>
  )
}

/** @param own when the session ends. */
function endOf(life: Life, day: string, own: string | null): string | null {
  if (life === 'session') return own
  if (life === 'never') return null
  if (life === '90') return new Date(lastEndOfSignIn()).toISOString()
  if (life !== 'date') return new Date(Date.now() + Number(life) * DAY_MS).toISOString()
  const end = new Date(`${day}T23:59:59`)
  return Number.isNaN(end.getTime()) ? null : end.toISOString()
}

/** What `<input type="date">` has: the local day. */
function toDay(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}

interface ChoiceProps {
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

function Scopes({ own, chosen, onChange }: ChoiceProps & { readonly own: readonly string[] }) {
  return (
    <div className={styles.scopes}>
      {groupsOf(own).map(([resource, scopes]) => (
        <fieldset key={resource}>
          <legend>{resource}</legend>
          <div className={fieldStyles.lines}>
            {scopes.map((scope) => (
              <Check
                key={scope}
                label={verbOf(scope)}
                isChecked={chosen.has(scope)}
                onChange={() => onChange(toggled(chosen, scope))}
              />
            ))}
          </div>
        </fieldset>
      ))}
    </div>
  )
}
