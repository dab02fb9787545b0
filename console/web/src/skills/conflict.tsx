/** What to do when somebody else has changed the same skill: both texts are there, and none is lost. */
import { useEffect, useRef } from 'react'
import { Diff } from '../components/diff.tsx'
import type { DraftFile, Meanwhile } from './draft.ts'
import styles from './editor.module.css'
import { Author, Message } from './versions.tsx'

export function ConflictNote({ meanwhile: { version, conflicts } }: { readonly meanwhile: Meanwhile }) {
  const note = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new version brings the note to attention again.
  useEffect(() => note.current?.focus(), [version])
  return (
    <div ref={note} className={styles.conflict} role="alert" tabIndex={-1}>
      <p className="anywhere">
        <strong>Somebody else has changed this skill.</strong> Version {version.version} is current:{' '}
        <Message version={version} />, by <Author version={version} />. Nothing of yours was saved yet, and nothing is
        lost.
      </p>
      {conflicts.length === 0 ? (
        <p>You have changed different files, so the draft has both changes now. Look at them and save again.</p>
      ) : (
        <p className="anywhere">
          You have both changed {conflicts.join(', ')}. Choose for each file whose text you continue from, then save
          again.
        </p>
      )}
    </div>
  )
}

interface OtherSideProps {
  readonly file: DraftFile
  readonly onSwap: () => void
}

/** The two texts of a file that two people changed. The one that is not chosen stays until the draft is saved. */
export function OtherSide({ file, onSwap }: OtherSideProps) {
  const { other } = file
  if (!other) return null
  const isYours = !other.isYours
  const [theirs, yours] = isYours ? [other, file] : [file, other]
  const isText = theirs.encoding === 'utf-8' && yours.encoding === 'utf-8'
  return (
    <>
      <fieldset className={styles.sides}>
        <legend>Continue from</legend>
        <label>
          <input type="radio" checked={isYours} onChange={onSwap} /> your text
        </label>
        <label>
          <input type="radio" checked={!isYours} onChange={onSwap} /> their text
        </label>
      </fieldset>
      <details open className={styles.difference}>
        <summary>From their text (−) to yours (+)</summary>
        {isText ? (
          <Diff before={theirs.content} after={yours.content} label={`Their text and yours of ${file.filename}`} />
        ) : (
          <p className="quiet">This file is not text.</p>
        )}
      </details>
    </>
  )
}
