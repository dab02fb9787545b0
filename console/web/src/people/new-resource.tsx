/** The form of a new person, agent or project. */

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Field, FormDialog } from '../components/field.tsx'
import { useDraft } from '../drafts.ts'
import { showMessage } from '../messages.ts'
import { create, refreshKind, WORDS } from './data.ts'
import { DescriptionField } from './description-field.tsx'
import type { Kind } from './kinds.ts'

const HELP_OF_ID: Readonly<Record<Kind, string>> = {
  users: 'The ID that your platform has for the person. It cannot be changed later.',
  agents: 'A UUID, if your platform has one for the agent; otherwise, it gets a new one. It cannot be changed later.',
  projects:
    'The ID that your platform has for the project; without one, it gets a new UUID. It cannot be changed later, and only a project whose ID is a UUID can be pinned.',
}

export const draftOfNew = (kind: Kind) => kind

export function NewResource({ kind, onClose }: { readonly kind: Kind; readonly onClose: () => void }) {
  const navigate = useNavigate()
  // A second attempt creates the same one.
  const [fields, setFields, draft] = useDraft(draftOfNew(kind), () => ({
    name: '',
    description: '',
    id: '',
    newId: crypto.randomUUID() as string,
  }))
  const { noun } = WORDS[kind]
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => create(kind, fields.id.trim() || fields.newId, fields),
    onSuccess: async (created) => {
      showMessage(`${created.name} created.`)
      draft.drop()
      onClose()
      await navigate({ to: '/people/$kind/$id', params: { kind, id: created.id } })
      await refreshKind(kind)
    },
  })
  return (
    <FormDialog
      title={`New ${noun}`}
      verb="Create"
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
      <Field label="ID" help={HELP_OF_ID[kind]}>
        {(attributes) => (
          <input
            {...attributes}
            required={kind === 'users'}
            spellCheck={false}
            autoCapitalize="none"
            placeholder={kind === 'users' ? undefined : 'a new UUID'}
            value={fields.id}
            onChange={({ target }) => setFields({ ...fields, id: target.value })}
          />
        )}
      </Field>
    </FormDialog>
  )
}
