/** Files as a tree, with the keys of a tree. */
import { ChevronDown, ChevronRight, File, Folder } from 'lucide-react'
import { type KeyboardEvent, memo, useEffect, useId, useMemo, useState } from 'react'
import styles from './tree.module.css'

/** What the tree knows of a file. */
export interface TreeFile {
  readonly id: string
  readonly path: string
}

interface FolderNode {
  readonly folders: Map<string, FolderNode>
  readonly files: TreeFile[]
}

interface Row {
  /** A folder's ends with "/". */
  readonly path: string
  readonly name: string
  readonly level: number
  /** Undefined for a folder. */
  readonly file?: TreeFile
  readonly isOpen?: boolean
}

const collator = new Intl.Collator('en', { numeric: true })

/** With more files, folders are closed at first. */
const MAX_OPEN_FILES = 200

interface TreeProps {
  readonly files: readonly TreeFile[]
  readonly selected: string | undefined
  readonly isFiltered: boolean
  readonly onSelect: (fileId: string) => void
}

export function Tree({ files, selected, isFiltered, onSelect }: TreeProps) {
  const id = useId()
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [activePath, setActivePath] = useState<string>()
  const root = useMemo(() => toTree(files), [files])
  const selectedPath = files.find((file) => file.id === selected)?.path
  const isOpenAtFirst = isFiltered || files.length <= MAX_OPEN_FILES
  const rows = useMemo(() => {
    const isOpen = (path: string) => (isOpenAtFirst || selectedPath?.startsWith(path) === true) !== toggled.has(path)
    return toRows(root, isOpen)
  }, [root, isOpenAtFirst, selectedPath, toggled])
  const active = Math.max(
    0,
    rows.findIndex(({ path }) => path === (activePath ?? selectedPath)),
  )
  const rowId = (index: number) => `${id}-${index}`
  useEffect(() => {
    // By ID, because a row may be far away.
    if (activePath !== undefined) document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, active, activePath])

  const toggle = ({ path }: Row) => {
    setToggled((previous) => {
      const next = new Set(previous)
      if (!next.delete(path)) next.add(path)
      return next
    })
  }
  const choose = (row: Row) => {
    setActivePath(row.path)
    if (row.file) onSelect(row.file.id)
    else toggle(row)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active]
    if (!row || event.metaKey || event.ctrlKey || event.altKey) return
    const isToggle = (event.key === 'ArrowRight' && row.isOpen === false) || (event.key === 'ArrowLeft' && row.isOpen)
    const target = targetOf(event.key, rows, active)
    if (event.key === 'Enter' || event.key === ' ') choose(row)
    else if (isToggle) toggle(row)
    else if (target) setActivePath(target.path)
    else return
    event.preventDefault()
  }
  return (
    <div
      role="tree"
      aria-label="Files"
      tabIndex={0}
      aria-activedescendant={rows.length > 0 ? rowId(active) : undefined}
      className={styles.tree}
      onKeyDown={onKeyDown}
    >
      {rows.map((row, index) => (
        <TreeRow
          key={row.path}
          id={rowId(index)}
          row={row}
          isActive={index === active}
          isSelected={row.file !== undefined && row.file.id === selected}
          onChoose={choose}
        />
      ))}
    </div>
  )
}

/** The row that a key moves to, as in the trees of operating systems. */
function targetOf(key: string, rows: readonly Row[], active: number): Row | undefined {
  const row = rows[active] as Row
  if (key === 'ArrowDown' || (key === 'ArrowRight' && row.isOpen)) return rows[active + 1] ?? row
  if (key === 'ArrowUp') return rows[active - 1] ?? row
  if (key === 'ArrowLeft') return rows.findLast(({ level }, index) => index < active && level < row.level) ?? row
  if (key === 'Home') return rows[0]
  return key === 'End' ? rows.at(-1) : undefined
}

interface TreeRowProps {
  readonly id: string
  readonly row: Row
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly onChoose: (row: Row) => void
}

const TreeRow = memo(
  ({ id, row, isActive, isSelected, onChoose }: TreeRowProps) => {
    const { name, level, file, isOpen } = row
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys.
      // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active row.
      <div
        id={id}
        role="treeitem"
        aria-level={level}
        aria-expanded={isOpen}
        aria-selected={isSelected}
        data-active={isActive}
        className={styles.row}
        style={{ paddingInlineStart: 4 + (Math.min(level, MAX_INDENTED) - 1) * 16 }}
        onClick={() => onChoose(row)}
      >
        {file ? (
          <span />
        ) : isOpen ? (
          <ChevronDown size={14} aria-hidden="true" />
        ) : (
          <ChevronRight size={14} aria-hidden="true" />
        )}
        {file ? <File size={14} aria-hidden="true" /> : <Folder size={14} aria-hidden="true" />}
        <bdi title={row.path}>{name}</bdi>
      </div>
    )
  },
  // What is called is the same as long as the row is.
  (before, after) =>
    before.row === after.row &&
    before.id === after.id &&
    before.isActive === after.isActive &&
    before.isSelected === after.isSelected,
)

const MAX_INDENTED = 12

function toTree(files: readonly TreeFile[]): FolderNode {
  const root: FolderNode = { folders: new Map(), files: [] }
  for (const file of files) {
    let folder = root
    for (const name of file.path.split('/').slice(0, -1)) {
      let next = folder.folders.get(name)
      if (!next) {
        next = { folders: new Map(), files: [] }
        folder.folders.set(name, next)
      }
      folder = next
    }
    folder.files.push(file)
  }
  return root
}

/** The visible rows: in each folder its folders, then its files, by name. */
function toRows(folder: FolderNode, isOpen: (path: string) => boolean, prefix = '', level = 1): Row[] {
  const folders = Array.from(folder.folders).sort(([a], [b]) => collator.compare(a, b))
  const files = folder.files.map((file) => ({ path: file.path, name: file.path.slice(prefix.length), level, file }))
  return [
    ...folders.flatMap(([name, inner]) => {
      const path = `${prefix}${name}/`
      const row = { path, name, level, isOpen: isOpen(path) }
      return row.isOpen ? [row, ...toRows(inner, isOpen, path, level + 1)] : [row]
    }),
    ...files.sort((a, b) => collator.compare(a.name, b.name)),
  ]
}
