/** The form of an event endpoint, for a new one and for an existing one. */

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { RESOURCES, typesOf } from '../activity/words.ts'
import { useCan, workspace } from '../api.ts'
import fieldStyles from '../components/field.module.css'
import { Check, Field, FormDialog } from '../components/field.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { type Draft, useDraft } from '../drafts.ts'
import { showMessage } from '../messages.ts'
import { useNames } from '../names.ts'
import { type EventEndpoint, type EventEndpointUpdate, type NewEventEndpoint, refreshEndpoints } from './data.ts'
import styles from './endpoints.module.css'

/** What the fields contain. */
interface Fields {
  /** Null: all. */
  readonly types: ReadonlySet<string> | null
  readonly projectId: string
  readonly note: string
  readonly batch: boolean
}

const EMPTY: Fields = { types: null, projectId: '', note: '', batch: true }

interface NewFields {
  readonly format: NonNullable<NewEventEndpoint['format']>
  readonly fields: Fields
}

/** The drafts of the editors. */
export const NEW_ENDPOINT = 'event-endpoint'
export const draftOfEndpoint = (id: string) => `event-endpoint/${id}`

/** What the API calls them. Types that the form does not know stay. */
const settingsOf = ({ types, projectId, note, batch }: Fields) => ({
  types: types === null ? null : Array.from(types),
  projectId: projectId || null,
  note: note.trim() || null,
  batch,
})

export function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const [{ format, fields }, setTyped, draft] = useDraft<NewFields>(NEW_ENDPOINT, { format: 'standard', fields: EMPTY })
  // It may be a secret: it is not kept.
  const [url, setUrl] = useState('')
  const [secret, setSecret] = useState<string>()
  const { mutate, isPending, error } = useMutation({
    // What it returns would be kept: the secret is in the state of the dialog only.
    gcTime: 0,
    mutationFn: async () => {
      const body = { ...settingsOf(fields), url: url.trim(), format } as NewEventEndpoint
      const created = await workspace.eventEndpoints.create(body)
      draft.drop()
      setUrl('')
      if (created.secret === null) close()
      else setSecret(created.secret)
    },
  })
  const close = () => {
    setSecret(undefined)
    onClose()
    void refreshEndpoints()
  }
  if (secret !== undefined) {
    return (
      <SecretOnce title="The secret of the endpoint" word="secret" secret={secret} onClose={close}>
        The receiver verifies messages with it.
      </SecretOnce>
    )
  }
  return (
    <Editor
      title="New event endpoint"
      verb="Create"
      draft={draft}
      fields={fields}
      onChange={(changed) => setTyped({ format, fields: changed })}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <UrlField value={url} isRequired onChange={setUrl} />
      <fieldset>
        <legend>Format</legend>
        <div className={fieldStyles.field}>
          <Check
            type="radio"
            label="For programs: events as JSON, signed"
            isChecked={format === 'standard'}
            onChange={() => setTyped({ format: 'standard', fields })}
          />
          <Check
            type="radio"
            label="For chats such as Slack: sentences"
            isChecked={format === 'text'}
            onChange={() => setTyped({ format: 'text', fields })}
          />
        </div>
      </fieldset>
    </Editor>
  )
}

interface EditEndpointProps {
  readonly endpoint: EventEndpoint
  readonly onClose: () => void
}

export function EditEndpoint({ endpoint, onClose }: EditEndpointProps) {
  const { id, url, types, projectId, note, batch } = endpoint
  // What comes in meanwhile does not change what the person edits.
  const [{ opened, fields }, setTyped, draft] = useDraft(draftOfEndpoint(id), () => {
    const found: Fields = { types: types && new Set(types), projectId: projectId ?? '', note: note ?? '', batch }
    return { opened: found, fields: found }
  })
  const [newUrl, setNewUrl] = useState('')
  const { mutate, isPending, error } = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      const before = settingsOf(opened)
      const changed = Object.entries(settingsOf(fields)).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]),
      )
      const typedUrl = newUrl.trim()
      const changes = { ...Object.fromEntries(changed), ...(typedUrl && { url: typedUrl }) } as EventEndpointUpdate
      if (Object.keys(changes).length > 0) await workspace.eventEndpoints.update(id, changes)
    },
    onSuccess: async () => {
      showMessage('Saved.')
      draft.drop()
      onClose()
      await refreshEndpoints()
    },
  })
  return (
    <Editor
      title="Edit the event endpoint"
      verb="Save"
      draft={draft}
      fields={fields}
      onChange={(changed) => setTyped({ opened, fields: changed })}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <UrlField
        label="New URL"
        help={
          <>
            It is <code className="anywhere">{url}</code>, of which the middle is not shown. Empty: it stays.
          </>
        }
        value={newUrl}
        onChange={setNewUrl}
      />
    </Editor>
  )
}

interface UrlFieldProps {
  readonly label?: string
  readonly help?: ReactNode
  readonly value: string
  readonly isRequired?: boolean
  readonly onChange: (value: string) => void
}

export function UrlField({ label = 'URL', help, value, isRequired = false, onChange }: UrlFieldProps) {
  return (
    <Field label={label} help={help}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          placeholder="https://hooks.example.com/…"
          maxLength={2000}
          required={isRequired}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

interface EditorProps {
  readonly title: string
  readonly verb: string
  readonly draft: Draft
  readonly fields: Fields
  readonly onChange: (fields: Fields) => void
  readonly isPending: boolean
  readonly error: unknown
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

function Editor({ fields, onChange, children, ...dialog }: EditorProps) {
  const { types, projectId, note, batch } = fields
  const can = useCan()
  const projects = useNames('projects')
  const problem = types?.size === 0 ? 'Tick the events that it gets.' : undefined
  return (
    <FormDialog {...dialog} problem={problem}>
      {children}
      <fieldset>
        <legend>Events</legend>
        <div className={fieldStyles.lines}>
          <Check
            type="radio"
            label="All"
            isChecked={types === null}
            onChange={() => onChange({ ...fields, types: null })}
          />
          <Check
            type="radio"
            label="Only some"
            isChecked={types !== null}
            onChange={() => onChange({ ...fields, types: types ?? new Set() })}
          />
        </div>
        {types !== null && <Types chosen={types} onChange={(chosen) => onChange({ ...fields, types: chosen })} />}
      </fieldset>
      {can('projects:read') && (
        <Field label="Project">
          {(attributes) => (
            <select
              {...attributes}
              value={projectId}
              onChange={({ target }) => onChange({ ...fields, projectId: target.value })}
            >
              <option value="">Of all projects, and of none</option>
              {projectId !== '' && !projects.has(projectId) && <option value={projectId}>{projectId}</option>}
              {Array.from(projects, ([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label="Note" help="What the endpoint is for.">
        {(attributes) => (
          <input
            {...attributes}
            maxLength={1000}
            value={note}
            onChange={({ target }) => onChange({ ...fields, note: target.value })}
          />
        )}
      </Field>
      <Check
        label="One event in each message"
        isChecked={!batch}
        onChange={(isSingle) => onChange({ ...fields, batch: !isSingle })}
      />
    </FormDialog>
  )
}

interface TypesProps {
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

/** The types of each resource: all of them, or some. */
function Types({ chosen, onChange }: TypesProps) {
  const toggle = (type: string, without: readonly string[] = []) => {
    const next = new Set(chosen)
    if (!next.delete(type)) next.add(type)
    for (const each of without) next.delete(each)
    onChange(next)
  }
  return (
    <div className={`${fieldStyles.box} ${styles.types}`}>
      {RESOURCES.map(([resource, word]) => {
        const all = `${resource}.*`
        const types = typesOf(resource)
        const ids = types.map(([type]) => type)
        return (
          <fieldset key={resource}>
            <legend>{word}</legend>
            <div className={fieldStyles.lines}>
              <Check label="all" isChecked={chosen.has(all)} onChange={() => toggle(all, ids)} />
              {types.map(([type, verb]) => (
                <Check
                  key={type}
                  label={verb.toLowerCase()}
                  isChecked={chosen.has(all) || chosen.has(type)}
                  isDisabled={chosen.has(all)}
                  onChange={() => toggle(type)}
                />
              ))}
            </div>
          </fieldset>
        )
      })}
    </div>
  )
}
