/** What can be done to a person, an agent or a project: change, archive, delete. */

import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import { Field, FormDialog } from '../components/field.tsx'
import type { MenuItem } from '../components/menu.tsx'
import { useShowDeleted } from '../deleted/data.ts'
import { hasDraft, useDraft } from '../drafts.ts'
import { showError, showMessage } from '../messages.ts'
import { change, type Resource, refreshKind, remove, setArchived, WORDS } from './data.ts'
import { DescriptionField } from './description-field.tsx'
import type { Kind } from './kinds.ts'
import styles from './people.module.css'

/** The dialog that is open. */
export interface Shown {
  readonly resource: Resource
  readonly dialog: 'edit' | 'delete'
}

/** Archives and unarchives, which can be undone at once. */
export function useArchive(kind: Kind) {
  const { mutate } = useMutation({
    mutationFn: async ({ resource: { id }, archived }: { resource: Resource; archived: boolean }) => {
      if (kind !== 'users') await setArchived(kind, id, archived)
    },
    onSuccess: async (_result, { resource, archived }) => {
      const undo = { label: 'Undo', onSelect: () => mutate({ resource, archived: !archived }) }
      showMessage(`${resource.name} ${archived ? 'archived' : 'unarchived'}.`, false, undo)
      await refreshKind(kind)
    },
    onError: showError,
  })
  return (resource: Resource) => mutate({ resource, archived: !resource.archivedAt })
}

export function itemsOf(
  kind: Kind,
  resource: Resource,
  archive: (resource: Resource) => void,
  show: (shown: Shown) => void,
): readonly MenuItem[] {
  const { archivedAt } = resource
  return [
    { label: kind === 'users' ? 'Rename' : 'Edit', onSelect: () => show({ resource, dialog: 'edit' }) },
    ...(kind === 'users' ? [] : [{ label: archivedAt ? 'Unarchive' : 'Archive', onSelect: () => archive(resource) }]),
    { label: 'Delete', isDangerous: true, onSelect: () => show({ resource, dialog: 'delete' }) },
  ]
}

interface ActionDialogProps {
  readonly kind: Kind
  readonly shown: Shown
  readonly onDeleted?: () => Promise<unknown>
  readonly onClose: () => void
}

export function ActionDialog({ kind, shown: { resource, dialog }, onDeleted, onClose }: ActionDialogProps) {
  if (dialog === 'edit') return <Edit kind={kind} resource={resource} onClose={onClose} />
  return <Delete kind={kind} resource={resource} onDeleted={onDeleted} onClose={onClose} />
}

interface DialogProps {
  readonly kind: Kind
  readonly resource: Resource
  readonly onClose: () => void
}

const draftOf = (kind: Kind, id: string) => `${kind}/${id}`

/** The first one of which something was typed and not saved. */
export function editedOf(kind: Kind, resources: readonly Resource[]): Shown | undefined {
  const resource = resources.find(({ id }) => hasDraft(draftOf(kind, id)))
  return resource && { resource, dialog: 'edit' }
}

function Edit({ kind, resource: { id, name: old, description: before }, onClose }: DialogProps) {
  const [fields, setFields, draft] = useDraft(draftOf(kind, id), { name: old, description: before ?? '' })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => change(kind, id, fields),
    onSuccess: async ({ name }) => {
      showMessage(name === old ? `${name} saved.` : `${old} renamed to ${name}.`)
      draft.drop()
      onClose()
      await refreshKind(kind)
    },
  })
  return (
    <FormDialog
      title={kind === 'users' ? `Rename ${old}` : `Edit ${old}`}
      verb={kind === 'users' ? 'Rename' : 'Save'}
      draft={draft}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label="Name">
        {(attributes) => (
          <input
            {...attributes}
            required
            value={fields.name}
            onChange={({ target }) => setFields({ ...fields, name: target.value })}
          />
        )}
      </Field>
      {kind !== 'users' && (
        <DescriptionField
          value={fields.description}
          onChange={(description) => setFields({ ...fields, description })}
        />
      )}
    </FormDialog>
  )
}

const CONSEQUENCES: Readonly<Record<Kind, ReactNode>> = {
  users: (
    <>
      All keys of this person and all sign-ins with them end at once. The pins and the picture are deleted too. For some
      days, the page Deleted can restore the person, but not the keys.
    </>
  ),
  agents: (
    <>Its schedules fire no more. For some days, the page Deleted can restore it with its schedules and their runs.</>
  ),
  projects: (
    <>
      Its sessions with their files, its pull requests, schedules and variables, and the pins of all these are deleted
      too. For some days, the page Deleted can restore it with everything that was in it.
    </>
  ),
}

interface DeleteProps extends DialogProps {
  readonly onDeleted: (() => Promise<unknown>) | undefined
}

function Delete({ kind, resource: { id, name }, onDeleted, onClose }: DeleteProps) {
  const { user } = useMe()
  const showDeleted = useShowDeleted()
  const isOneself = kind === 'users' && user?.id === id
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb="Delete"
      act={async () => {
        await remove(kind, id)
        await onDeleted?.()
        const projectId = kind === 'projects' ? id : undefined
        void showDeleted(name, { resourceType: WORDS[kind].type, resourceId: id, projectId })
        await refreshKind(kind)
      }}
      onClose={onClose}
    >
      <div className={styles.body}>
        <p>{CONSEQUENCES[kind]}</p>
        {isOneself && <p className={styles.warning}>This is you: your sign-in ends, and you cannot undo it.</p>}
      </div>
    </Confirm>
  )
}
