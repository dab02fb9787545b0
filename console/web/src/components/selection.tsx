/** Selects rows of a table, to do the same to many at once. */
import { type ReactNode, useState } from 'react'
import styles from './selection.module.css'

interface Selectable {
  readonly id: string
}

export interface Selection<Item extends Selectable> {
  readonly selected: readonly Item[]
  readonly isAll: boolean
  has(item: Item): boolean
  toggle(item: Item): void
  toggleAll(): void
  clear(): void
}

/** @param items those that are shown: the others are not selected. */
export function useSelection<Item extends Selectable>(items: readonly Item[]): Selection<Item> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const selected = items.filter(({ id }) => ids.has(id))
  const isAll = items.length > 0 && selected.length === items.length
  return {
    selected,
    isAll,
    has: ({ id }) => ids.has(id),
    toggle: ({ id }) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      setIds(next)
    },
    toggleAll: () => setIds(new Set(isAll ? [] : items.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  }
}

/** Of the head of the table. */
export function SelectAll<Item extends Selectable>({ selection }: { readonly selection: Selection<Item> }) {
  return (
    <th className={styles.check}>
      <input type="checkbox" aria-label="Select all" checked={selection.isAll} onChange={selection.toggleAll} />
    </th>
  )
}

interface SelectCellProps<Item extends Selectable> {
  readonly selection: Selection<Item>
  readonly item: Item
  readonly name: string
}

export function SelectCell<Item extends Selectable>({ selection, item, name }: SelectCellProps<Item>) {
  return (
    <td className={styles.check}>
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={selection.has(item)}
        onChange={() => selection.toggle(item)}
      />
    </td>
  )
}

interface SelectedProps<Item extends Selectable> {
  readonly label: string
  readonly selection: Selection<Item>
  /** The buttons. */
  readonly children: ReactNode
}

/** What can be done with the selected rows; nothing if there are none. */
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
