/** Selects rows of a table, to do the same to many at once. */
import { type ReactNode, useCallback, useState } from 'react'
import styles from './selection.module.css'
import { Cell, type Column } from './table.tsx'

interface Selectable {
  readonly id: string
}

export interface Selection<Item extends Selectable> {
  readonly selected: readonly Item[]
  readonly isAll: boolean
  has(item: Item): boolean
  /** The same function always, so that only the row that it changes is drawn again. */
  readonly toggle: (item: Item) => void
  toggleAll(): void
  clear(): void
}

/** @param items those that are shown: the others are not selected. */
export function useSelection<Item extends Selectable>(items: readonly Item[]): Selection<Item> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const selected = items.filter(({ id }) => ids.has(id))
  const isAll = items.length > 0 && selected.length === items.length
  const toggle = useCallback(({ id }: Item) => {
    setIds((previous) => {
      const next = new Set(previous)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }, [])
  return {
    selected,
    isAll,
    has: ({ id }) => ids.has(id),
    toggle,
    toggleAll: () => setIds(new Set(isAll ? [] : items.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  }
}

/** The column of the checkboxes. */
export function selectColumn<Item extends Selectable>({ isAll, toggleAll }: Selection<Item>): Column {
  const head = <input type="checkbox" aria-label="Select all" checked={isAll} onChange={toggleAll} />
  return { name: 'Select', head, width: '32px' }
}

interface SelectCellProps {
  readonly isSelected: boolean
  readonly onToggle: () => void
  readonly name: string
}

export function SelectCell({ isSelected, onToggle, name }: SelectCellProps) {
  return (
    <Cell className={styles.check}>
      <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected} onChange={onToggle} />
    </Cell>
  )
}

interface SelectedProps<Item extends Selectable> {
  readonly label: string
  readonly selection: Selection<Item>
  /** The buttons. */
  readonly children: ReactNode
}

/** What can be done with the selected rows; not shown while no row is selected. */
export function Selected<Item extends Selectable>({ label, selection, children }: SelectedProps<Item>) {
  if (selection.selected.length === 0) return null
  return (
    <div className={styles.bulk} role="toolbar" aria-label={label}>
      <span aria-live="polite">{selection.selected.length} selected</span>
      {children}
      <button type="button" data-kind="plain" onClick={selection.clear}>
        Select none
      </button>
    </div>
  )
}
