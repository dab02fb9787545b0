/** Puts chosen or dropped files into a session, after it has said which files they replace. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { Dialog, DialogActions } from '../components/dialog.tsx'
import { toSize } from '../components/files/content.ts'
import { ErrorNote } from '../components/note.tsx'
import { showMessage } from '../messages.ts'
import { filesQuery, refreshFiles, upload } from './data.ts'
import styles from './upload.module.css'

interface UploadProps {
  readonly sessionId: string
  readonly chosen: readonly File[]
  /** Where they go at first; '' for no folder. */
  readonly folder: string
  readonly onClose: () => void
}

export function Upload({ sessionId, chosen, folder: initial, onClose }: UploadProps) {
  const id = useId()
  const [folder, setFolder] = useState(initial)
  const [done, setDone] = useState(0)
  const [uploading] = useState(() => new AbortController())
  // Closed is cancelled. What was uploaded stays.
  useEffect(() => () => uploading.abort(), [uploading])
  const existing = useQuery(filesQuery(sessionId))
  const prefix = folder.trim().replace(/\/*$/, '/').replace(/^\/$/, '')
  // The service stores paths in this form.
  const files = chosen.map((file) => ({ file, path: `${prefix}${file.name}`.normalize('NFC') }))
  const paths = new Set(existing.data?.files.map(({ path }) => path))
  const replaced = files.filter(({ path }) => paths.has(path)).length
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      let replacedNow = 0
      // What is done already is not done again after an error.
      for (const [index, { file, path }] of files.entries()) {
        if (index < done) continue
        if (await upload(sessionId, path, file, uploading.signal)) replacedNow += 1
        setDone(index + 1)
      }
      return replacedNow
    },
    onSuccess: (replacedNow) => {
      showMessage(
        `Uploaded ${count(files.length)}${replacedNow > 0 ? `, of which ${replacedNow} replaced another` : ''}.`,
      )
      onClose()
    },
    onSettled: refreshFiles,
  })
  return (
    <Dialog title={`Upload ${count(files.length)}`} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <label htmlFor={id}>Folder</label>
        <input
          id={id}
          value={folder}
          placeholder="none"
          disabled={isPending || done > 0}
          onChange={({ target }) => setFolder(target.value)}
        />
        <ul className={styles.files}>
          {files.map(({ file, path }, index) => (
            <li key={path}>
              <bdi className="anywhere">{path}</bdi>
              <span className="quiet">
                {index < done ? 'uploaded' : paths.has(path) ? 'replaces a file' : toSize(file.size)}
              </span>
            </li>
          ))}
        </ul>
        {existing.data?.isComplete === false && <p>A file that exists at the same path is replaced.</p>}
        <p role="status">{isPending && `Uploading ${done + 1} of ${files.length}`}</p>
        {error && <ErrorNote error={error} />}
        <DialogActions>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" data-kind="primary" disabled={isPending || existing.isPending}>
            {replaced > 0 ? `Upload and replace ${replaced}` : 'Upload'}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function count(files: number): string {
  return files === 1 ? '1 file' : `${files} files`
}
