/** One file: what it contains, and what can be done with it. Agents wrote it, so nothing of it runs. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useCan } from '../api.ts'
import { Code } from '../components/code.tsx'
import { Confirm } from '../components/confirm.tsx'
import { decode, formatJson, imageTypeOf, kindOf, mediaTypeOf, SVG, toSize } from '../components/files/content.ts'
import styles from '../components/files/file.module.css'
import { FileArticle, FORMATTED_VIEWS, NotShown } from '../components/files/file.tsx'
import { Picture } from '../components/files/picture.tsx'
import { Markdown } from '../components/markdown.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Time } from '../components/time.tsx'
import { visible } from '../visible.ts'
import {
  contentPath,
  contentQuery,
  FIRST_BYTES,
  type FileDetails,
  fileQuery,
  partsQuery,
  refreshFiles,
  remove,
} from './data.ts'

type LinkTo = (path: string, children: ReactNode) => ReactNode

interface ViewerProps {
  readonly sessionId: string
  readonly fileId: string
  /** A link to another file of the session; undefined if there is none. */
  readonly linkTo: LinkTo
  /** Resolves when the file is shown no more. */
  readonly onDeleted: () => Promise<void>
}

export function Viewer({ sessionId, fileId, ...rest }: ViewerProps) {
  const { data, error, refetch } = useQuery(fileQuery(sessionId, fileId))
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton />
  return <Loaded key={fileId} file={data} {...rest} />
}

interface LoadedProps extends Pick<ViewerProps, 'linkTo' | 'onDeleted'> {
  readonly file: FileDetails
}

/** Larger pictures and pages are only downloaded. */
const MAX_SHOWN_BYTES = 20_000_000

function Loaded({ file, linkTo, onDeleted }: LoadedProps) {
  const can = useCan()
  const imageType = imageTypeOf(file)
  const kind = imageType ? ('image' as const) : kindOf(file)
  const isLarge = file.sizeBytes > (kind === 'image' || kind === 'html' ? MAX_SHOWN_BYTES : FIRST_BYTES)
  // A page is rendered when somebody asks for it.
  const [isSource, setIsSource] = useState(kind === 'html')
  const [isDeleting, setIsDeleting] = useState(false)
  const isText = kind !== 'image' || imageType === SVG
  const name = visible(file.path)
  const formatted = kind === 'text' || isLarge || file.sizeBytes === 0 ? undefined : FORMATTED_VIEWS[kind]
  const showsSource = formatted === undefined || isSource
  return (
    <FileArticle
      name={name}
      details={
        <>
          {toSize(file.sizeBytes)} · {mediaTypeOf(file)} · <Time at={file.updatedAt} />
        </>
      }
      view={formatted && isText ? { formatted, isSource, onSource: setIsSource } : undefined}
      actions={
        <>
          <a className="button" href={contentPath(file, '/api')} download={name.split('/').at(-1)}>
            Download
          </a>
          {can('session-files:write') && (
            <Menu
              label={`Actions for ${name}`}
              items={[{ label: 'Delete', isDangerous: true, onSelect: () => setIsDeleting(true) }]}
            />
          )}
        </>
      }
    >
      {file.sizeBytes === 0 ? (
        <Empty title="The file is empty" />
      ) : !showsSource && kind === 'html' ? (
        <Rendered file={file} />
      ) : !showsSource && imageType ? (
        <Image file={file} type={imageType} />
      ) : isText ? (
        <Text key={file.sha256} file={file} name={name} format={showsSource ? undefined : kind} linkTo={linkTo} />
      ) : (
        <NotShown sizeBytes={file.sizeBytes} />
      )}
      {isDeleting && (
        <Confirm
          title="Delete this file?"
          verb="Delete"
          act={async () => {
            await remove(file)
            await onDeleted()
            await refreshFiles()
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p className="anywhere">
            <bdi>{name}</bdi> is deleted with its content. It cannot be restored.
          </p>
        </Confirm>
      )}
    </FileArticle>
  )
}

interface TextProps {
  readonly file: FileDetails
  readonly name: string
  readonly format: 'markdown' | 'json' | 'text' | 'html' | 'image' | undefined
  readonly linkTo: LinkTo
}

/** All of a small text. Of a large one its beginning or its end, and more of it on demand. */
function Text({ file, name, format, linkTo }: TextProps) {
  const [from, setFrom] = useState<'start' | 'end'>('start')
  const parts = useInfiniteQuery(partsQuery(file, from))
  if (parts.isPending) return <Skeleton />
  if (parts.isError) return <ErrorNote error={parts.error} retry={() => void parts.refetch()} />
  const isFromStart = from === 'start'
  const { pages } = parts.data
  const text = decode(isFromStart ? pages : pages.toReversed(), isFromStart)
  if (text === undefined) return <NotShown sizeBytes={file.sizeBytes} />
  if (format === 'markdown') return <Markdown text={text} linkTo={linkTo} />
  const loaded = pages.reduce((sum, { length }) => sum + length, 0)
  const isWhole = loaded >= file.sizeBytes
  return (
    <>
      {file.sizeBytes > FIRST_BYTES && (
        <div className={styles.part}>
          <p role="status">
            {isWhole ? 'All' : `The ${isFromStart ? 'first' : 'last'} ${toSize(loaded)}`} of {toSize(file.sizeBytes)}.
          </p>
          {!isWhole && (
            <button type="button" disabled={parts.isFetchingNextPage} onClick={() => void parts.fetchNextPage()}>
              Show more
            </button>
          )}
          <button type="button" onClick={() => setFrom(isFromStart ? 'end' : 'start')}>
            {isFromStart ? 'Show the end' : 'Show the beginning'}
          </button>
        </div>
      )}
      <Code
        key={from}
        text={(format === 'json' && formatJson(text)) || text}
        label={name}
        wraps={kindOf(file) !== 'json'}
        hasLineNumbers={isFromStart || isWhole}
      />
    </>
  )
}

function Image({ file, type }: { readonly file: FileDetails; readonly type: string }) {
  const { data, error, refetch } = useQuery(contentQuery(file))
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton />
  return <Picture bytes={data} type={type} name={file.path} />
}

/** Its policy (console/src/policies.ts) allows no script and no request. */
function Rendered({ file }: { readonly file: FileDetails }) {
  return (
    <>
      <p className="quiet small">Scripts, pictures of other hosts and links do not work here.</p>
      <iframe
        className={styles.frame}
        sandbox=""
        referrerPolicy="no-referrer"
        title={`${file.path}, rendered`}
        src={`${contentPath(file, '/api/render')}?${file.sha256}`}
      />
    </>
  )
}
