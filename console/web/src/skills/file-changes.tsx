/** What differs between the files of two versions, file by file. */
import { useState } from 'react'
import { Diff } from '../components/diff.tsx'
import { toSize } from '../components/files/content.ts'
import { Empty } from '../components/note.tsx'
import { type FileChange, summaryOf, wordOf } from './changes.ts'
import type { SkillFile } from './data.ts'
import styles from './skill.module.css'

/** More are compared when they are opened. */
const MAX_OPEN = 10
const MAX_OPEN_LENGTH = 100_000

export function FileChanges({ changes }: { readonly changes: readonly FileChange[] }) {
  const [showsAll, setShowsAll] = useState(false)
  if (changes.length === 0) return <Empty title="No file differs" />
  return (
    <section className={styles.changes} aria-label="Changed files">
      <div className={styles.summary}>
        <p role="status">{summaryOf(changes)}</p>
        <label>
          <input type="checkbox" checked={showsAll} onChange={({ target }) => setShowsAll(target.checked)} /> Unchanged
          lines, too
        </label>
      </div>
      {changes.map((change, index) => (
        <Change
          key={change.filename}
          change={change}
          hidesUnchanged={!showsAll}
          isOpenAtFirst={index < MAX_OPEN && lengthOf(change) <= MAX_OPEN_LENGTH}
        />
      ))}
    </section>
  )
}

const lengthOf = ({ before, after }: FileChange) => (before?.content.length ?? 0) + (after?.content.length ?? 0)

interface ChangeProps {
  readonly change: FileChange
  readonly hidesUnchanged: boolean
  readonly isOpenAtFirst: boolean
}

function Change({ change, hidesUnchanged, isOpenAtFirst }: ChangeProps) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst)
  const { before, after } = change
  const word = wordOf(change)
  const size = (after ?? before)?.content.length ?? 0
  return (
    <details className={styles.change} open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <bdi className="anywhere">{change.filename}</bdi>
        <span className={styles.word} data-word={word}>
          {word}
        </span>
        {before && after && before.executable !== after.executable && (
          <span className="quiet small">{after.executable ? 'now executable' : 'no longer executable'}</span>
        )}
        {size > MAX_OPEN_LENGTH && <span className="quiet small">{toSize(size)}</span>}
      </summary>
      {isOpen && <Texts change={change} hidesUnchanged={hidesUnchanged} />}
    </details>
  )
}

function Texts({ change: { filename, before, after }, hidesUnchanged }: Omit<ChangeProps, 'isOpenAtFirst'>) {
  const isText = (file: SkillFile | undefined) => file === undefined || file.encoding === 'utf-8'
  if (!isText(before) || !isText(after)) return <p className="quiet">This file is not text.</p>
  if (before?.content === after?.content) return <p className="quiet">The text is the same.</p>
  const label = `Changes of ${filename}`
  return <Diff before={before?.content} after={after?.content} label={label} hidesUnchanged={hidesUnchanged} />
}
