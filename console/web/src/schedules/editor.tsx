/** The form of a schedule, for a new one and for an existing one. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useCan } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import { Dialog, DialogActions } from '../components/dialog.tsx'
import { KeptNote } from '../components/field.tsx'
import { ErrorNote } from '../components/note.tsx'
import { type Draft, useDraft } from '../drafts.ts'
import { WorkspaceError } from '../errors.ts'
import { showMessage } from '../messages.ts'
import { useNames } from '../names.ts'
import { change, create, type Details, type Place, refreshSchedulesAndRuns, type Settings } from '../schedule-data.ts'
import styles from './editor.module.css'
import { NextTimes, OWN_ZONE, problemOf, ZONES } from './next-times.tsx'

/** What the fields contain: text, as it is typed. */
interface Fields {
  readonly name: string
  readonly kind: 'cron' | 'once'
  readonly cron: string
  readonly timezone: string
  /** In one's own time zone, as the field of the browser has it. */
  readonly runAt: string
  readonly payload: string
  readonly overlap: 'allow' | 'skip'
  readonly maxRunSeconds: string
  readonly pauseAfterFailures: string
  readonly note: string
}

const EMPTY: Fields = {
  name: '',
  kind: 'cron',
  cron: '0 9 * * mon-fri',
  timezone: OWN_ZONE,
  runAt: '',
  payload: '',
  overlap: 'allow',
  maxRunSeconds: '',
  pauseAfterFailures: '',
  note: '',
}

function fieldsOf(schedule: Details): Fields {
  const { name, cron, runAt, payload, overlap, maxRunSeconds, pauseAfterFailures, note } = schedule
  return {
    name: name ?? '',
    kind: runAt === null ? 'cron' : 'once',
    cron: cron ?? EMPTY.cron,
    timezone: 'timezone' in schedule ? schedule.timezone : 'UTC',
    runAt: runAt === null ? '' : toLocalInput(new Date(runAt)),
    payload: payload === null ? '' : JSON.stringify(payload, null, 2),
    overlap,
    maxRunSeconds: maxRunSeconds?.toString() ?? '',
    pauseAfterFailures: pauseAfterFailures?.toString() ?? '',
    note: note ?? '',
  }
}

/** What `<input type="datetime-local">` has: the local time without a zone. */
function toLocalInput(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The drafts of the editors. */
export const NEW_SCHEDULE = 'schedule'
export const draftOfSchedule = (id: string) => `schedule/${id}`

/** @throws SyntaxError if the payload is not JSON. */
function settingsOf(fields: Fields, isOfAgent: boolean): Settings {
  const { name, kind, cron, timezone, runAt, payload, overlap, maxRunSeconds, pauseAfterFailures, note } = fields
  const recurrence = isOfAgent ? { cron } : { cron, timezone }
  return {
    ...(kind === 'cron' ? recurrence : { runAt: new Date(runAt).toISOString() }),
    name: name.trim() || null,
    payload: payload.trim() === '' ? null : JSON.parse(payload),
    overlap,
    maxRunSeconds: maxRunSeconds === '' ? null : Number(maxRunSeconds),
    pauseAfterFailures: pauseAfterFailures === '' ? null : Number(pauseAfterFailures),
    note: note.trim() || null,
  }
}

function problemOfPayload(payload: string): string | undefined {
  if (payload.trim() === '') return undefined
  try {
    JSON.parse(payload)
    return undefined
  } catch (error) {
    return `The payload is not JSON: ${(error as Error).message}`
  }
}

interface EditScheduleProps {
  readonly place: Place
  readonly schedule: Details
  readonly etag: string | null
  readonly onClose: () => void
}

export function EditSchedule({ place, schedule, etag, onClose }: EditScheduleProps) {
  const isOfAgent = place.parents === 'agents'
  // What comes in meanwhile does not change what the person edits.
  const [typed, setTyped, draft] = useDraft(draftOfSchedule(schedule.id), () => {
    const opened = fieldsOf(schedule)
    return { fields: opened, opened, runAt: schedule.runAt, etag }
  })
  const { fields, opened } = typed
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const settings = settingsOf(fields, isOfAgent)
      // The field has no seconds, and the service accepts a time that has passed only if it is the same.
      const isSameTime = fields.kind === opened.kind && fields.runAt === opened.runAt
      const { runAt } = typed
      return change(place, isSameTime && runAt !== null ? { ...settings, runAt } : settings, typed.etag)
    },
    onSuccess: async () => {
      draft.drop()
      onClose()
      showMessage('Saved.')
      await refreshSchedulesAndRuns()
    },
  })
  const hasChanged = error instanceof WorkspaceError && error.code === 'etag_mismatch'
  return (
    <Editor
      title="Edit the schedule"
      fields={fields}
      opened={opened}
      draft={draft}
      onChange={(changed) => setTyped((before) => ({ ...before, fields: { ...before.fields, ...changed } }))}
      isOfAgent={isOfAgent}
      isPending={isPending}
      error={
        hasChanged
          ? new Error('Somebody has changed this schedule since you opened it. Close, look at it, and edit it again.')
          : error
      }
      onSave={() => mutate()}
      onClose={onClose}
    />
  )
}

export function NewSchedule({ onClose }: { readonly onClose: () => void }) {
  const can = useCan()
  const projects = useNames('projects')
  const agents = useNames('agents')
  // A second attempt creates the same one.
  const [{ parent, id, fields }, setTyped, draft] = useDraft(NEW_SCHEDULE, () => ({
    parent: '',
    id: crypto.randomUUID(),
    fields: EMPTY,
  }))
  const navigate = useNavigate()
  const fieldId = useId()
  const [parents = '', parentId = ''] = parent.split(/\/(.*)/s)
  const place: Place = { parents: parents === 'agents' ? 'agents' : 'projects', parentId, scheduleId: id }
  const isOfAgent = place.parents === 'agents'
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => create(place, settingsOf(fields, isOfAgent)),
    onSuccess: async () => {
      draft.drop()
      await refreshSchedulesAndRuns()
      await navigate({ to: '/$parents/$parentId/schedules/$scheduleId', params: place })
    },
  })
  return (
    <Editor
      title="New schedule"
      fields={fields}
      opened={EMPTY}
      draft={draft}
      onChange={(changed) => setTyped((before) => ({ ...before, fields: { ...before.fields, ...changed } }))}
      isOfAgent={isOfAgent}
      isPending={isPending}
      error={error}
      onSave={() => mutate()}
      onClose={onClose}
    >
      <div className={styles.field}>
        <label htmlFor={fieldId}>Belongs to</label>
        <select
          id={fieldId}
          required
          value={parent}
          onChange={({ target }) => setTyped((before) => ({ ...before, parent: target.value }))}
        >
          <option value="">Choose a project or an agent</option>
          {can('projects:read') && <Options label="Projects" kind="projects" names={projects} />}
          {can('agents:read') && <Options label="Agents" kind="agents" names={agents} />}
        </select>
      </div>
    </Editor>
  )
}

interface OptionsProps {
  readonly label: string
  readonly kind: 'projects' | 'agents'
  readonly names: ReadonlyMap<string, string>
}

function Options({ label, kind, names }: OptionsProps) {
  return (
    <optgroup label={label}>
      {Array.from(names, ([id, name]) => (
        <option key={id} value={`${kind}/${id}`}>
          {name}
        </option>
      ))}
    </optgroup>
  )
}

interface EditorProps {
  readonly title: string
  readonly fields: Fields
  /** What they contained at first. */
  readonly opened: Fields
  readonly draft: Draft
  readonly onChange: (changed: Partial<Fields>) => void
  /** Its time zone is UTC. */
  readonly isOfAgent: boolean
  readonly isPending: boolean
  readonly error: Error | null
  readonly onSave: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

function Editor({
  title,
  fields,
  opened,
  draft,
  onChange: set,
  isOfAgent,
  isPending,
  error,
  onSave,
  onClose,
  children,
}: EditorProps) {
  const [isDiscarding, setIsDiscarding] = useState(false)
  const isTyped = JSON.stringify(fields) !== JSON.stringify(opened)
  const discard = () => {
    draft.drop()
    onClose()
  }
  const timezone = isOfAgent ? 'UTC' : fields.timezone
  const payloadProblem = problemOfPayload(fields.payload)
  const isWrong =
    payloadProblem !== undefined || (fields.kind === 'cron' && problemOf({ cron: fields.cron, timezone }) !== undefined)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!isWrong) onSave()
  }
  return (
    <Dialog title={title} onClose={() => (isTyped ? setIsDiscarding(true) : discard())}>
      <form className={styles.form} onSubmit={onSubmit}>
        <KeptNote draft={draft} />
        {children}
        <TextField label="Name" value={fields.name} maxLength={255} onChange={(name) => set({ name })} />
        <fieldset className={styles.kinds}>
          <legend className="only-read-aloud">When</legend>
          <label>
            <input type="radio" checked={fields.kind === 'cron'} onChange={() => set({ kind: 'cron' })} /> Repeatedly
          </label>
          <label>
            <input type="radio" checked={fields.kind === 'once'} onChange={() => set({ kind: 'once' })} /> Once
          </label>
        </fieldset>
        {fields.kind === 'once' ? (
          <TextField
            label={`Time (${OWN_ZONE})`}
            type="datetime-local"
            isRequired
            value={fields.runAt}
            onChange={(runAt) => set({ runAt })}
          />
        ) : (
          <>
            <div className={styles.pair}>
              <TextField
                label="Cron expression"
                isCode
                isRequired
                value={fields.cron}
                onChange={(cron) => set({ cron })}
              />
              <TimezoneField value={timezone} isFixed={isOfAgent} onChange={(zone) => set({ timezone: zone })} />
            </div>
            <NextTimes cron={fields.cron} timezone={timezone} />
          </>
        )}
        <TextArea
          label="Payload (JSON)"
          isCode
          value={fields.payload}
          problem={payloadProblem}
          onChange={(payload) => set({ payload })}
        />
        <details>
          <summary>Limits and note</summary>
          <div className={styles.form}>
            <label className={styles.line}>
              <input
                type="checkbox"
                checked={fields.overlap === 'skip'}
                onChange={({ target }) => set({ overlap: target.checked ? 'skip' : 'allow' })}
              />
              Skip a run while the run before is not finished
            </label>
            <div className={styles.pair}>
              <TextField
                label="Longest run, in seconds"
                type="number"
                value={fields.maxRunSeconds}
                placeholder="no limit"
                onChange={(maxRunSeconds) => set({ maxRunSeconds })}
              />
              <TextField
                label="Pause after failed runs in a row"
                type="number"
                value={fields.pauseAfterFailures}
                placeholder="the default"
                onChange={(pauseAfterFailures) => set({ pauseAfterFailures })}
              />
            </div>
            <TextArea label="Note" value={fields.note} onChange={(note) => set({ note })} />
          </div>
        </details>
        {error && <ErrorNote error={error} />}
        <DialogActions>
          <button type="button" onClick={discard}>
            Cancel
          </button>
          <button type="submit" data-kind="primary" disabled={isPending || isWrong}>
            Save
          </button>
        </DialogActions>
      </form>
      {isDiscarding && (
        <Confirm
          title="Discard what you typed?"
          verb="Discard"
          act={async () => discard()}
          onClose={() => setIsDiscarding(false)}
        >
          It is not saved.
        </Confirm>
      )}
    </Dialog>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'number' | 'datetime-local'
  readonly isRequired?: boolean
  readonly isCode?: boolean
  readonly placeholder?: string
  readonly maxLength?: number
}

function TextField({ label, value, onChange, type = 'text', isRequired, isCode, ...attributes }: TextFieldProps) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={value}
        required={isRequired}
        className={isCode ? styles.code : undefined}
        spellCheck={!isCode}
        onChange={(event) => onChange(event.target.value)}
        {...(type === 'number' && { min: 1 })}
        {...attributes}
      />
    </div>
  )
}

interface TimezoneFieldProps extends Pick<TextFieldProps, 'value' | 'onChange'> {
  /** Schedules of agents have no time zone of their own. */
  readonly isFixed: boolean
}

function TimezoneField({ value, isFixed, onChange }: TimezoneFieldProps) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>Time zone</label>
      <input
        id={id}
        list={`${id}-zones`}
        value={value}
        required
        disabled={isFixed}
        aria-describedby={isFixed ? `${id}-fixed` : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {isFixed && (
        <p id={`${id}-fixed`} className="quiet small">
          Schedules of agents are in UTC.
        </p>
      )}
      <datalist id={`${id}-zones`}>
        {ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  )
}

interface TextAreaProps extends Pick<TextFieldProps, 'label' | 'value' | 'onChange' | 'isCode'> {
  readonly problem?: string | undefined
}

function TextArea({ label, value, onChange, isCode, problem }: TextAreaProps) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={3}
        value={value}
        className={isCode ? styles.code : undefined}
        spellCheck={!isCode}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onChange={(event) => onChange(event.target.value)}
      />
      {problem !== undefined && (
        <p id={`${id}-problem`} className={styles.problem}>
          {problem}
        </p>
      )}
    </div>
  )
}
