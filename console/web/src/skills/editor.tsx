/** Writes the next version of a skill, or a new skill. */

import { useMutation } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import {
  type Dispatch,
  type FormEvent,
  type ReactNode,
  type SetStateAction,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'
import { Confirm } from '../components/confirm.tsx'
import { Field, FormDialog, KeptNote } from '../components/field.tsx'
import columns from '../components/files/columns.module.css'
import { folderOf, toSize } from '../components/files/content.ts'
import { FileArticle } from '../components/files/file.tsx'
import { Tree } from '../components/files/tree.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { TextEditor } from '../components/text-editor.tsx'
import { type Draft as Kept, useDraft } from '../drafts.ts'
import { messageOf, WorkspaceError } from '../errors.ts'
import { showMessage } from '../messages.ts'
import { summaryOf } from './changes.ts'
import { ConflictNote, OtherSide } from './conflict.tsx'
import { isEditable } from './content.ts'
import { ENTRY_FILE, readCurrent, type SkillFile, save } from './data.ts'
import {
  changesOfDraft,
  type Draft,
  type DraftFile,
  draftOf,
  isChanged,
  type Meanwhile,
  problemOfName,
  rebase,
  withFile,
  withFilenames,
  withNewFile,
  withOtherSide,
  withoutFile,
} from './draft.ts'
import styles from './editor.module.css'
import { FileChanges } from './file-changes.tsx'

const PRECONDITION_FAILED = 412
const MAX_MESSAGE = 255

const draftOfSkill = (id?: string) => (id === undefined ? 'skill' : `skill/${id}`)

interface Typed {
  readonly draft: Draft
  readonly etag: string | null
  readonly message: string
  /** The file that is open. */
  readonly selected: string | undefined
}

interface SkillEditorProps {
  readonly title: string
  /** Undefined for a new skill. */
  readonly skillId?: string
  /** What is written on. */
  readonly files: readonly SkillFile[]
  /** The ETag of the version that has the files. */
  readonly etag?: string | null
  /** The file that is open at first. */
  readonly opened?: string | undefined
}

export function SkillEditor({ title, skillId, files, etag: firstEtag = null, opened = ENTRY_FILE }: SkillEditorProps) {
  const navigate = useNavigate()
  const [typed, setTyped, kept] = useDraft<Typed>(draftOfSkill(skillId), () => {
    const first = draftOf(files)
    const selected = first.files.find(({ filename }) => filename === opened)?.id
    return { draft: first, etag: firstEtag, message: '', selected }
  })
  const { draft, etag, message, selected } = typed
  const set = (changed: Partial<Typed>) => setTyped((before) => ({ ...before, ...changed }))
  const setDraft = (next: SetStateAction<Draft>) =>
    setTyped((before) => ({ ...before, draft: typeof next === 'function' ? next(before.draft) : next }))
  const setSelected = (id: string | undefined) => set({ selected: id })
  const [meanwhile, setMeanwhile] = useState<Meanwhile>()
  const [isReviewing, setIsReviewing] = useState(false)
  const [revision, setRevision] = useState(0)
  const isSaved = useRef(false)
  const changes = changesOfDraft(draft)
  const isDirty = changes.length > 0 || message !== ''
  const file = draft.files.find(({ id }) => id === selected)
  /** What was not typed into the editor makes another one. */
  const replace = (next: Draft) => {
    setDraft(next)
    setRevision((before) => before + 1)
  }
  const saving = useMutation({
    mutationFn: () => save(skillId, draft.files, message, etag),
    onSuccess: async (id) => {
      isSaved.current = true
      kept.drop()
      await navigate({ to: '/skills/$skillId', params: { skillId: id } })
      showMessage('Saved. Agents get it from now on.')
    },
    onError: async (error) => {
      if (skillId === undefined || !isConflict(error)) return
      const { version, etag: newest } = await readCurrent(skillId)
      const merged = rebase(draft, version.files)
      replace(merged.draft)
      set({ etag: newest })
      setMeanwhile({ version, conflicts: merged.conflicts })
      const first = merged.draft.files.find(({ filename }) => merged.conflicts.includes(filename))
      if (first) setSelected(first.id)
      setIsReviewing(false)
    },
  })
  const leave = () => {
    if (skillId === undefined) void navigate({ to: '/skills' })
    else void navigate({ to: '/skills/$skillId', params: { skillId } })
  }
  useEscape(leave)
  const error = saving.error && !isConflict(saving.error) ? named(saving.error, draft) : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <Page title={title}>
      <LeaveGuard isDirty={() => isDirty && !isSaved.current} draft={kept} />
      <KeptNote draft={kept} />
      <form className={styles.bar} onSubmit={submit}>
        <input
          aria-label="What changed"
          placeholder="What changed, for the list of versions"
          value={message}
          maxLength={MAX_MESSAGE}
          onChange={({ target }) => set({ message: target.value })}
        />
        <button type="button" onClick={leave}>
          Cancel
        </button>
        {skillId !== undefined && (
          <button
            type="button"
            aria-pressed={isReviewing}
            disabled={changes.length === 0 && !isReviewing}
            onClick={() => setIsReviewing(!isReviewing)}
          >
            {isReviewing ? 'Continue' : 'Review changes'}
          </button>
        )}
        <button
          type="submit"
          data-kind="primary"
          disabled={saving.isPending || (changes.length === 0 && skillId !== undefined)}
        >
          {skillId === undefined ? 'Create' : 'Save new version'}
        </button>
        <p role="status" className={`quiet small ${styles.summary}`}>
          {skillId === undefined ? 'It becomes version 1.' : summaryOf(changes)}
        </p>
      </form>
      {error !== undefined && (
        <div className={styles.problem}>
          <ErrorNote error={error} />
        </div>
      )}
      {meanwhile && <ConflictNote meanwhile={meanwhile} />}
      {isReviewing ? (
        <FileChanges changes={changes} />
      ) : (
        <DraftFiles
          draft={draft}
          selected={selected}
          onSelect={setSelected}
          onChange={setDraft}
          content={
            file && (
              <DraftFileView
                key={`${file.id} ${revision}`}
                draft={draft}
                file={file}
                onType={(content) => setDraft((before) => withFile(before, file.id, { content }))}
                onChange={setDraft}
                onSwap={() => replace(withOtherSide(draft, file.id))}
              />
            )
          }
        />
      )}
    </Page>
  )
}

const isConflict = (error: unknown) => error instanceof WorkspaceError && error.status === PRECONDITION_FAILED

function named(error: Error, draft: Draft): Error {
  const message = withFilenames(messageOf(error), draft)
  return message === error.message ? error : Object.assign(Object.create(error) as Error, { message })
}

/** Asks before what was written is lost: on the way to another page, and before the tab is closed if it is not kept. */
interface LeaveGuardProps {
  readonly isDirty: () => boolean
  readonly draft: Kept
}

function LeaveGuard({ isDirty, draft }: LeaveGuardProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty() && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty() && !draft.isKept(),
    withResolver: true,
  })
  if (status !== 'blocked') return null
  const discard = async () => {
    draft.drop()
    proceed()
  }
  return (
    <Confirm title="Discard your changes?" verb="Discard" act={discard} onClose={reset}>
      What you have written was not saved.
    </Confirm>
  )
}

/** Not in a dialog, a menu or a field of the browser's own, which Escape closes or empties. */
function useEscape(leave: () => void): void {
  const onEscape = useEffectEvent(leave)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isInside = (event.target as Element).closest('dialog, [popover], select')
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || isInside) return
      event.preventDefault()
      onEscape()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

interface DraftFilesProps {
  readonly draft: Draft
  readonly selected: string | undefined
  readonly onSelect: (id: string | undefined) => void
  readonly onChange: (draft: Draft) => void
  readonly content: ReactNode
}

function DraftFiles({ draft, selected, onSelect, onChange, content }: DraftFilesProps) {
  const [isAdding, setIsAdding] = useState(false)
  const folder = folderOf(draft.files.find(({ id }) => id === selected)?.filename ?? '')
  const add = (filename: string) => {
    const added = withNewFile(draft, { filename, content: '', encoding: 'utf-8', executable: false })
    onChange(added.draft)
    onSelect(added.id)
    setIsAdding(false)
  }
  return (
    <div className={columns.columns}>
      <section aria-label="Files of the skill" className={columns.side}>
        <button type="button" onClick={() => setIsAdding(true)}>
          <Plus size={16} aria-hidden="true" />
          Add a file
        </button>
        <div className={`${columns.tree} ${styles.tree}`}>
          <Tree
            files={draft.files.map(({ id, filename }) => ({ id, path: filename }))}
            selected={selected}
            isFiltered={false}
            onSelect={onSelect}
          />
        </div>
      </section>
      <div className={columns.content}>{content || <Empty title="No file is open">Choose one in the tree.</Empty>}</div>
      {isAdding && (
        <PathDialog
          title="Add a file"
          verb="Add"
          path={folder && `${folder}/`}
          problemOf={(path) => problemOfName(draft, path)}
          onSubmit={add}
          onClose={() => setIsAdding(false)}
        />
      )}
    </div>
  )
}

interface PathDialogProps {
  readonly title: string
  readonly verb: string
  readonly path: string
  readonly problemOf: (path: string) => string | undefined
  readonly onSubmit: (path: string) => void
  readonly onClose: () => void
}

function PathDialog({ title, verb, path: first, problemOf, onSubmit, onClose }: PathDialogProps) {
  const [path, setPath] = useState(first)
  return (
    <FormDialog
      title={title}
      verb={verb}
      draft={null}
      isPending={false}
      error={null}
      problem={problemOf(path)}
      onSubmit={() => onSubmit(path)}
      onClose={onClose}
    >
      <Field label="Path" help="Relative to the folder of the skill, such as scripts/check.sh.">
        {(attributes) => (
          <input
            {...attributes}
            value={path}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => setPath(target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

interface DraftFileProps {
  readonly draft: Draft
  readonly file: DraftFile
  readonly onType: (content: string) => void
  readonly onChange: Dispatch<SetStateAction<Draft>>
  readonly onSwap: () => void
}

function DraftFileView({ draft, file, onType, onChange, onSwap }: DraftFileProps) {
  const [isRenaming, setIsRenaming] = useState(false)
  // It is decided once: what is typed does not end the editing.
  const [canEdit] = useState(() => isEditable(file))
  const { id, filename, content, executable } = file
  const isEntry = filename === ENTRY_FILE
  const remove = () => {
    onChange(withoutFile(draft, id))
    const undo = () => onChange((before) => withNewFile(withoutFile(before, id), file).draft)
    showMessage(`${filename} is deleted when you save.`, false, { label: 'Undo', onSelect: undo })
  }
  return (
    <FileArticle
      name={filename}
      details={isChanged(draft, file) ? 'changed' : 'not changed'}
      actions={
        <>
          <label className={styles.executable}>
            <input
              type="checkbox"
              checked={executable}
              onChange={({ target }) => onChange(withFile(draft, id, { executable: target.checked }))}
            />{' '}
            Executable
          </label>
          {!isEntry && (
            <Menu
              label={`Actions for ${filename}`}
              items={[
                { label: 'Rename', onSelect: () => setIsRenaming(true) },
                { label: 'Delete', isDangerous: true, onSelect: remove },
              ]}
            />
          )}
        </>
      }
    >
      {file.other && <OtherSide file={file} onSwap={onSwap} />}
      {canEdit ? (
        <TextEditor text={content} label={`Text of ${filename}`} onChange={onType} />
      ) : (
        <Empty title="This file cannot be edited here">
          {file.encoding === 'base64'
            ? 'It is not text.'
            : `Its ${toSize(content.length)} have lines that browsers cannot edit.`}{' '}
          Publish it with <code>workspace skills push</code>.
        </Empty>
      )}
      {isRenaming && (
        <PathDialog
          title={`Rename ${filename}`}
          verb="Rename"
          path={filename}
          problemOf={(path) => problemOfName(draft, path, id)}
          onSubmit={(path) => {
            onChange(withFile(draft, id, { filename: path }))
            setIsRenaming(false)
          }}
          onClose={() => setIsRenaming(false)}
        />
      )}
    </FileArticle>
  )
}
