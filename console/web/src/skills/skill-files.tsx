/** The files of a version as a tree, and the file that the address names. Agents wrote them, so nothing of them runs. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import { Code } from '../components/code.tsx'
import columns from '../components/files/columns.module.css'
import { folderOf, formatJson, imageTypeOf, kindOf, resolvePath, SVG, toSize } from '../components/files/content.ts'
import { FileArticle, FORMATTED_VIEWS, NotShown } from '../components/files/file.tsx'
import { Picture } from '../components/files/picture.tsx'
import { Tree } from '../components/files/tree.tsx'
import { Filters, SearchField } from '../components/filters.tsx'
import { Markdown } from '../components/markdown.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { bytesOf, splitFrontMatter } from './content.ts'
import { ENTRY_FILE, type Version, versionQuery } from './data.ts'
import styles from './skill.module.css'

const route = getRouteApi('/app/skills/$skillId')

interface SkillFilesProps {
  readonly skillId: string
  readonly version: number
  readonly isCurrent: boolean
}

export function SkillFiles({ skillId, version, isCurrent }: SkillFilesProps) {
  const { data, error, refetch } = useQuery(versionQuery(skillId, version))
  const { file: chosen, q, view } = route.useSearch()
  const navigate = route.useNavigate()
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const shown = useMemo(() => {
    const query = q?.toLowerCase() ?? ''
    return (data?.files ?? [])
      .filter(({ filename }) => filename.toLowerCase().includes(query))
      .map(({ filename }) => ({ id: filename, path: filename }))
  }, [data, q])
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />
  if (!data) return <Skeleton />
  const filename = chosen ?? ENTRY_FILE
  const file = data.files.find((each) => each.filename === filename)
  const versionInAddress = isCurrent ? undefined : version
  const linkTo = (path: string, children: ReactNode) => {
    const target = resolvePath(path, folderOf(filename))
    return (
      data.files.some((each) => each.filename === target) && (
        <Link to="/skills/$skillId" params={{ skillId }} search={{ version: versionInAddress, file: target, q }}>
          {children}
        </Link>
      )
    )
  }
  return (
    <div className={columns.columns} data-reads={chosen !== undefined || view !== 'files'}>
      <section aria-label="Files of the skill" className={columns.side}>
        <Filters>
          <SearchField label="Search paths" value={q} onChange={search} />
        </Filters>
        {shown.length === 0 ? (
          <Empty title="No path matches">Search for another part of a path.</Empty>
        ) : (
          <div className={columns.tree}>
            <Tree
              files={shown}
              selected={filename}
              isFiltered={q !== undefined}
              onSelect={(id) => void navigate({ search: (previous) => ({ ...previous, file: id }) })}
            />
          </div>
        )}
      </section>
      <div className={columns.content}>
        <Link
          className={columns.back}
          to="/skills/$skillId"
          params={{ skillId }}
          search={{ version: versionInAddress, view: 'files', q }}
        >
          <ChevronLeft size={16} aria-hidden="true" />
          All files
        </Link>
        {file ? (
          <FileView key={`${version} ${filename}`} file={file} linkTo={linkTo} />
        ) : (
          <Empty title="This version has no such file">{filename}</Empty>
        )}
      </div>
    </div>
  )
}

interface FileViewProps {
  readonly file: Version['files'][number]
  readonly linkTo: (path: string, children: ReactNode) => ReactNode
}

function FileView({ file, linkTo }: FileViewProps) {
  const { filename, content, encoding, executable, sizeBytes } = file
  const [isSource, setIsSource] = useState(false)
  const bytes = useMemo(() => bytesOf(file), [file])
  const named = { path: filename, contentType: '' }
  const imageType = imageTypeOf(named)
  const kind = imageType ? ('image' as const) : kindOf(named)
  const isText = encoding === 'utf-8' && (imageType === undefined || imageType === SVG)
  // A page of HTML is shown as its source only.
  const formatted = kind === 'text' || kind === 'html' || sizeBytes === 0 ? undefined : FORMATTED_VIEWS[kind]
  const showsSource = formatted === undefined || isSource
  return (
    <FileArticle
      name={filename}
      details={
        <>
          {toSize(sizeBytes)}
          {executable && ' · executable'}
        </>
      }
      view={formatted && isText ? { formatted, isSource, onSource: setIsSource } : undefined}
    >
      {sizeBytes === 0 ? (
        <Empty title="The file is empty" />
      ) : !showsSource && imageType ? (
        <Picture bytes={bytes} type={imageType} name={filename} />
      ) : !isText ? (
        <NotShown sizeBytes={sizeBytes} />
      ) : !showsSource && kind === 'markdown' ? (
        <Formatted isEntry={filename === ENTRY_FILE} text={content} linkTo={linkTo} />
      ) : (
        <Code
          text={(!showsSource && formatJson(content)) || content.replaceAll(/\r\n?/g, '\n')}
          label={filename}
          wraps={kind !== 'json'}
        />
      )}
    </FileArticle>
  )
}

interface FormattedProps extends Pick<FileViewProps, 'linkTo'> {
  readonly isEntry: boolean
  readonly text: string
}

/** Markdown takes front matter for a heading. */
function Formatted({ isEntry, text, linkTo }: FormattedProps) {
  const { frontMatter, body } = splitFrontMatter(text)
  if (!isEntry || frontMatter === undefined) return <Markdown text={text} linkTo={linkTo} />
  return (
    <>
      <details className={styles.frontMatter}>
        <summary>Front matter</summary>
        <pre>{frontMatter}</pre>
      </details>
      <Markdown text={body} linkTo={linkTo} />
    </>
  )
}
