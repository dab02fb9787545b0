/**
 * Tables that may have thousands of rows. All rows are in the page, so that the browser finds their text, Tab reaches
 * them and screen readers count them, but it lays out and draws only those that are near the window: with
 * `content-visibility`, which rows of the layout of tables do not have. So each row is a grid with the same columns.
 */
import type { ReactNode } from 'react'
import type { Growing } from '../lists.ts'
import styles from './table.module.css'

export interface Column {
  readonly name: string
  /** Instead of the name, such as a checkbox. */
  readonly head?: ReactNode
  /** The width of a column of a grid: the same in all rows, so not by content. */
  readonly width: string
  /** On a narrow screen; default: the same. */
  readonly narrowWidth?: string
  readonly isWideOnly?: boolean
  /** The name is only read aloud. */
  readonly isUnlabelled?: boolean
}

interface TableProps {
  /** Those that are false are left out. */
  readonly columns: readonly (Column | false)[]
  /** The height of a row that was not drawn yet, in pixels: about what most have. */
  readonly rowHeight?: number
  /** The rows. */
  readonly children: ReactNode
}

export function Table({ columns, rowHeight = 38, children }: TableProps) {
  const shown = columns.filter((column) => column !== false)
  const narrow = shown.filter(({ isWideOnly }) => !isWideOnly)
  const variables: Record<string, string> = {
    '--columns': shown.map(({ width }) => width).join(' '),
    '--narrow-columns': narrow.map(({ width, narrowWidth = width }) => narrowWidth).join(' '),
    '--row-height': `${rowHeight}px`,
  }
  return (
    // The roles are those of the elements, which older browsers drop if the layout is another.
    // biome-ignore-start lint/a11y/noRedundantRoles: see above.
    <table role="table" className={styles.table} style={variables}>
      <thead role="rowgroup">
        <tr role="row">
          {shown.map(({ name, head, isWideOnly, isUnlabelled }) => (
            <th key={name} role="columnheader" scope="col" className={isWideOnly ? 'wide-only' : undefined}>
              {head ?? (isUnlabelled ? <span className="only-read-aloud">{name}</span> : name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above.
  )
}

interface RowProps {
  readonly isSelected?: boolean
  readonly children: ReactNode
}

export function Row({ isSelected, children }: RowProps) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see Table.
    <tr role="row" className={styles.row} aria-selected={isSelected}>
      {children}
    </tr>
  )
}

interface CellProps {
  readonly className?: string | undefined
  readonly children?: ReactNode
}

export function Cell({ className, children }: CellProps) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see Table.
    <td role="cell" className={className}>
      {children}
    </td>
  )
}

/** Below a list. While it reads, it is not disabled: it would lose the focus. */
export function ShowMore({ list }: { readonly list: Pick<Growing<unknown>, 'hasMore' | 'isGrowing' | 'showMore'> }) {
  if (!list.hasMore) return null
  return (
    <button type="button" aria-disabled={list.isGrowing} onClick={list.isGrowing ? undefined : list.showMore}>
      Show more
    </button>
  )
}
