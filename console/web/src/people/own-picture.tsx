/** What a person does to their own picture. Nobody else can change it. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { useCan } from '../api.ts'
import { ErrorNote } from '../components/note.tsx'
import { showMessage } from '../messages.ts'
import { deletePicture, pictureQuery, putPicture, refreshPictures } from './data.ts'
import styles from './people.module.css'

export function OwnPicture({ userId }: { readonly userId: string }) {
  const input = useRef<HTMLInputElement>(null)
  const choose = useRef<HTMLButtonElement>(null)
  const canRead = useCan()('profile-picture:read')
  const { data } = useQuery({ ...pictureQuery(userId), enabled: canRead })
  const { mutate, isPending, error } = useMutation({
    mutationFn: (file: File | null): Promise<unknown> => (file ? putPicture(userId, file) : deletePicture(userId)),
    onSuccess: async (_result, file) => {
      showMessage(file ? 'Your picture is uploaded.' : 'Your picture is removed.')
      await refreshPictures()
    },
  })
  // Without the permission to read it, there may be one.
  const mayHave = canRead ? Boolean(data) : true
  const remove = () => {
    // The button goes with the picture.
    choose.current?.focus()
    mutate(null)
  }
  return (
    <div className={styles.own}>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        aria-label="Your picture"
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? []
          if (file) mutate(file)
          // The same file can be chosen again.
          target.value = ''
        }}
      />
      <div className={styles.buttons}>
        <button ref={choose} type="button" onClick={() => input.current?.click()}>
          {canRead && data ? 'Replace the picture' : 'Upload a picture'}
        </button>
        {mayHave && (
          <button type="button" disabled={isPending} onClick={remove}>
            Remove
          </button>
        )}
      </div>
      <p className="quiet small">PNG, JPEG, GIF or WebP, up to 5 MiB. Everybody in the organization sees it.</p>
      {error && <ErrorNote error={error} />}
    </div>
  )
}
