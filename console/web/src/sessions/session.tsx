/** One session: its files as a tree, and the file that the address names. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { type ReactNode, useCallback, useRef, useState } from 'react'
import { refresh, useCan, useMe } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import styles from '../components/files/columns.module.css'
import { folderOf, resolvePath } from '../components/files/content.ts'
import { Tree } from '../components/files/tree.tsx'
import { Filters, SearchField } from '../components/filters.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Time } from '../components/time.tsx'
import { useShowDeleted } from '../deleted/data.ts'
import { showError } from '../messages.ts'
import { useName } from '../names.ts'
import { pinsQuery } from '../pins/data.ts'
import { filesQuery, MAX_FILES, removeSession, type Session as SessionData, sessionQuery, setPinned } from './data.ts'
import { Upload } from './upload.tsx'
import { Viewer } from './viewer.tsx'

export const Route = createLazyRoute('/app/sessions/$sessionId')({ component: Session })

function Session() {
  const { sessionId } = Route.useParams()
  const { data, error, refetch } = useQuery(sessionQuery(sessionId))
  if (data) return <Loaded key={sessionId} session={data} />
  return <Page title="Session">{error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}</Page>
}

function Loaded({ session }: { readonly session: SessionData }) {
  const can = useCan()
  const isPerson = useMe().user !== null
  const project = useName('projects', session.projectId)
  const canWrite = can('session-files:write')
  const input = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useState<readonly File[]>([])
  return (
    <Page
      title={session.name}
      details={
        <p className="quiet">
          <Link to="/sessions" search={{ project: session.projectId }}>
            {project ?? session.projectId}
          </Link>
          {' · created '}
          <Time at={session.createdAt} />
        </p>
      }
      actions={
        <>
          {isPerson && can('pins:read') && can('pins:write') && <PinButton sessionId={session.id} />}
          {canWrite && (
            <>
              <button type="button" onClick={() => input.current?.click()}>
                Upload files
              </button>
              <input
                ref={input}
                type="file"
                multiple
                hidden
                aria-label="Files to upload"
                onChange={({ target }) => {
                  setChosen(Array.from(target.files ?? []))
                  // The same file can be chosen again.
                  target.value = ''
                }}
              />
            </>
          )}
          {can('sessions:write') && <Deletion session={session} />}
        </>
      }
    >
      {can('session-files:read') ? (
        <Files sessionId={session.id} chosen={chosen} onChoose={canWrite ? setChosen : undefined} />
      ) : (
        <Empty title="Files are not shown">Your API key has no scope session-files:read.</Empty>
      )}
    </Page>
  )
}

function PinButton({ sessionId }: { readonly sessionId: string }) {
  const { data: isPinned } = useQuery({
    ...pinsQuery,
    select: ({ items }) =>
      items.some(({ resourceType, resourceId }) => resourceType === 'session' && resourceId === sessionId),
  })
  const { mutate, isPending } = useMutation({ mutationFn: () => setPinned(sessionId, !isPinned), onError: showError })
  return (
    <button type="button" disabled={isPinned === undefined || isPending} onClick={() => mutate()}>
      {isPinned ? 'Unpin' : 'Pin'}
    </button>
  )
}

function Deletion({ session: { id, projectId, name } }: { readonly session: SessionData }) {
  const navigate = Route.useNavigate()
  const showDeleted = useShowDeleted()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[{ label: 'Delete', isDangerous: true, onSelect: () => setIsAsking(true) }]}
      />
      {isAsking && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          act={async () => {
            await removeSession(id)
            await navigate({ to: '/sessions' })
            void showDeleted(name, { resourceType: 'session', resourceId: id, projectId })
            await refresh('sessions', 'pins')
          }}
          onClose={() => setIsAsking(false)}
        >
          Its files go with it. For some days, the page Deleted can restore it with its files.
        </Confirm>
      )}
    </>
  )
}

interface FilesProps {
  readonly sessionId: string
  /** The files of the computer that wait for the upload. */
  readonly chosen: readonly File[]
  readonly onChoose: ((files: readonly File[]) => void) | undefined
}

function Files({ sessionId, chosen, onChoose }: FilesProps) {
  const { file: fileId, q } = Route.useSearch()
  const navigate = Route.useNavigate()
  const list = useQuery(filesQuery(sessionId, q))
  const [isDropping, setIsDropping] = useState(false)
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const files = list.data?.files ?? []
  const current = files.find(({ id }) => id === fileId)?.path ?? ''
  const folder = folderOf(current)
  const linkTo = (path: string, children: ReactNode) => {
    const target = files.find((file) => file.path === resolvePath(path, folder))
    return (
      target && (
        <Link to="/sessions/$sessionId" params={{ sessionId }} search={{ file: target.id, q }}>
          {children}
        </Link>
      )
    )
  }
  const onDrop = (event: React.DragEvent) => {
    event.preventDefault()
    setIsDropping(false)
    onChoose?.(Array.from(event.dataTransfer.files))
  }
  const hasDrop = onChoose && {
    onDrop,
    onDragOver: (event: React.DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      setIsDropping(true)
    },
    onDragLeave: (event: React.DragEvent) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setIsDropping(false)
    },
  }
  return (
    <div className={styles.columns} data-reads={fileId !== undefined}>
      <section aria-label="Files of the session" className={styles.side} data-dropping={isDropping} {...hasDrop}>
        <Filters>
          <SearchField label="Search paths" value={q} onChange={search} />
        </Filters>
        {list.isPending ? (
          <Skeleton />
        ) : list.isLoadingError ? (
          <ErrorNote error={list.error} retry={() => void list.refetch()} />
        ) : files.length === 0 ? (
          <Empty title={q === undefined ? 'No files yet' : 'No path matches'}>
            {q === undefined
              ? `Files that agents upload appear here.${onChoose ? ' Drop files here to upload them yourself.' : ''}`
              : 'Search for another part of a path.'}
          </Empty>
        ) : (
          <div className={styles.tree}>
            {list.data.isComplete || (
              <p className="quiet small">The first {MAX_FILES.toLocaleString('en')} files. Search for others.</p>
            )}
            <Tree
              files={files}
              selected={fileId}
              isFiltered={q !== undefined}
              onSelect={(id) => void navigate({ search: (previous) => ({ ...previous, file: id }) })}
            />
          </div>
        )}
      </section>
      <div className={styles.content}>
        {fileId === undefined ? (
          files.length > 0 && <Empty title="No file is open">Choose one in the tree.</Empty>
        ) : (
          <>
            <Link className={styles.back} to="/sessions/$sessionId" params={{ sessionId }} search={{ q }}>
              <ChevronLeft size={16} aria-hidden="true" />
              All files
            </Link>
            <Viewer
              sessionId={sessionId}
              fileId={fileId}
              linkTo={linkTo}
              onDeleted={() => navigate({ search: (previous) => ({ ...previous, file: undefined }) })}
            />
          </>
        )}
      </div>
      {chosen.length > 0 && onChoose && (
        <Upload sessionId={sessionId} chosen={chosen} folder={folder} onClose={() => onChoose([])} />
      )}
    </div>
  )
}
