/** What can be done to an event endpoint. */

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { cursorBefore } from '../../../../src/contracts.ts'
import { workspace } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import styles from '../components/field.module.css'
import { Check, Field, FormDialog } from '../components/field.tsx'
import type { MenuItem } from '../components/menu.tsx'
import { DEFAULT_OVERLAP, Overlap } from '../components/overlap.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { hasDraft, useDraft } from '../drafts.ts'
import { showError, showMessage } from '../messages.ts'
import { type Attempt, describeAttempt, type EventEndpoint, refreshEndpoints } from './data.ts'
import { draftOfEndpoint, EditEndpoint } from './editor.tsx'

/** The dialog that is open. */
export interface Shown {
  readonly endpoint: EventEndpoint
  readonly dialog: 'edit' | 'rotate' | 'rewind' | 'delete'
}

/** The first one with something that was typed and not saved. */
export function editedOf(endpoints: readonly EventEndpoint[]): Shown | undefined {
  const endpoint = endpoints.find(({ id }) => hasDraft(draftOfEndpoint(id)))
  if (endpoint) return { endpoint, dialog: 'edit' }
  const rewound = endpoints.find(({ id }) => hasDraft(draftOfRewind(id)))
  return rewound && { endpoint: rewound, dialog: 'rewind' }
}

const draftOfRewind = (id: string) => `rewind/${id}`

export function useActions(endpoint: EventEndpoint) {
  const { id, url, format, disabledAt } = endpoint
  const test = useMutation({
    mutationFn: () => workspace.eventEndpoints.test(id),
    onError: showError,
    onSettled: refreshEndpoints,
  })
  const isDisabled = disabledAt !== null
  const enable = useMutation({
    mutationFn: () => workspace.eventEndpoints.update(id, { enabled: isDisabled }),
    onSuccess: () => showMessage(`${url} ${isDisabled ? 'enabled' : 'disabled'}.`),
    onError: showError,
    onSettled: refreshEndpoints,
  })
  const showResult = (attempt: Attempt) =>
    showMessage(`Test of ${url}: ${describeAttempt(attempt)}`, attempt.error !== null)
  const itemsOf = (show: (shown: Shown) => void): readonly MenuItem[] => [
    { label: 'Test', onSelect: () => test.mutate(undefined, { onSuccess: showResult }) },
    { label: 'Edit', onSelect: () => show({ endpoint, dialog: 'edit' }) },
    { label: isDisabled ? 'Enable' : 'Disable', onSelect: () => enable.mutate() },
    ...(format === 'standard'
      ? [{ label: 'Rotate the secret', onSelect: () => show({ endpoint, dialog: 'rotate' }) }]
      : []),
    { label: 'Rewind', onSelect: () => show({ endpoint, dialog: 'rewind' }) },
    { label: 'Delete', isDangerous: true, onSelect: () => show({ endpoint, dialog: 'delete' }) },
  ]
  return { test, enable, itemsOf }
}

interface EndpointDialogProps {
  readonly shown: Shown
  readonly onDeleted?: () => Promise<unknown>
  readonly onClose: () => void
}

export function EndpointDialog({ shown: { endpoint, dialog }, onDeleted, onClose }: EndpointDialogProps) {
  if (dialog === 'edit') return <EditEndpoint endpoint={endpoint} onClose={onClose} />
  if (dialog === 'rewind') return <Rewind endpoint={endpoint} onClose={onClose} />
  if (dialog === 'rotate') {
    const rotate = async (overlapSeconds: number) =>
      (await workspace.eventEndpoints.rotate(endpoint.id, { overlapSeconds })).secret ?? ''
    return <RotateSecret url={endpoint.url} rotate={rotate} onClose={onClose} />
  }
  return (
    <Confirm
      title={`Delete ${endpoint.url}?`}
      verb="Delete"
      act={async () => {
        await workspace.eventEndpoints.delete(endpoint.id)
        await onDeleted?.()
        await refreshEndpoints()
      }}
      onClose={onClose}
    >
      It gets no more events, and its secret and its place in the events are gone.
    </Confirm>
  )
}

interface RotateSecretProps {
  readonly url: string
  /** @returns the new secret. */
  readonly rotate: (overlapSeconds: number) => Promise<string>
  readonly onClose: () => void
}

export function RotateSecret({ url, rotate, onClose }: RotateSecretProps) {
  const [overlapSeconds, setOverlapSeconds] = useState(DEFAULT_OVERLAP)
  const [secret, setSecret] = useState<string>()
  const { mutate, isPending, error } = useMutation({
    // What it returns would be kept: the secret is in the state of the dialog only.
    gcTime: 0,
    mutationFn: async () => setSecret(await rotate(overlapSeconds)),
  })
  if (secret !== undefined) {
    const close = () => {
      setSecret(undefined)
      onClose()
      void refreshEndpoints()
    }
    return (
      <SecretOnce title="The new secret" word="secret" secret={secret} onClose={close}>
        {overlapSeconds > 0 && 'Until the old one ends, each message has the signatures of both.'}
      </SecretOnce>
    )
  }
  return (
    <FormDialog
      title="Rotate the secret"
      verb="Rotate"
      draft={null}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <p className="anywhere">
        The messages to <code>{url}</code> get a new secret to be verified with.
      </p>
      <Overlap word="secret" value={overlapSeconds} onChange={setOverlapSeconds} />
    </FormDialog>
  )
}

function Rewind({ endpoint, onClose }: { readonly endpoint: EventEndpoint; readonly onClose: () => void }) {
  const { id, url, disabledAt } = endpoint
  const [{ isNow, from }, setFields, draft] = useDraft(draftOfRewind(id), { isNow: false, from: '' })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      workspace.eventEndpoints.rewind(id, { after: isNow ? 'now' : cursorBefore(new Date(from).toISOString()) }),
    onSuccess: async () => {
      showMessage(`${url} rewound.`)
      draft.drop()
      onClose()
      await refreshEndpoints()
    },
  })
  return (
    <FormDialog
      title="Rewind"
      verb="Rewind"
      draft={draft}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <fieldset>
        <legend>Which events are sent next</legend>
        <div className={styles.field}>
          <Check
            type="radio"
            label="Those from a time on, again"
            isChecked={!isNow}
            onChange={() => setFields({ isNow: false, from })}
          />
          <Check
            type="radio"
            label="Those from now on: what waits is left out"
            isChecked={isNow}
            onChange={() => setFields({ isNow: true, from })}
          />
        </div>
      </fieldset>
      {!isNow && (
        <Field label="From" help="In your time zone. Activity shows the times of events.">
          {(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              step="1"
              required
              value={from}
              onChange={({ target }) => setFields({ isNow, from: target.value })}
            />
          )}
        </Field>
      )}
      {disabledAt !== null && <p className="quiet small">It is disabled: they are sent once it is enabled.</p>}
    </FormDialog>
  )
}
