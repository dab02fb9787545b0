/** A menu of a button: a popover of the browser, with the keys of a menu. */
import { Ellipsis } from 'lucide-react'
import { type KeyboardEvent, useId, useRef } from 'react'
import styles from './menu.module.css'

export interface MenuItem {
  readonly label: string
  readonly onSelect: () => void
  readonly isDisabled?: boolean
  readonly isDangerous?: boolean
}

interface MenuProps {
  /** What the menu is about, such as "Actions for Nightly build". */
  readonly label: string
  readonly items: readonly MenuItem[]
}

export function Menu({ label, items }: MenuProps) {
  const id = useId()
  const popover = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const entries = () => Array.from(popover.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])
  const onToggle = (isOpen: boolean) => {
    button.current?.setAttribute('aria-expanded', String(isOpen))
    if (!isOpen) return
    place(button.current, popover.current)
    entries()[0]?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries()
    const current = all.indexOf(document.activeElement as HTMLElement)
    const targets: Record<string, number> = {
      ArrowDown: (current + 1) % all.length,
      ArrowUp: (current - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }
    const target = targets[event.key]
    if (event.key === 'Tab') popover.current?.hidePopover()
    if (target === undefined) return
    event.preventDefault()
    all[target]?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        data-kind="icon"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded="false"
        popoverTarget={id}
      >
        <Ellipsis size={16} aria-hidden="true" />
      </button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className={styles.menu}
        onToggle={(event) => onToggle(event.newState === 'open')}
        onKeyDown={onKeyDown}
      >
        {items.map(({ label: name, onSelect, isDisabled = false, isDangerous = false }) => (
          <button
            key={name}
            type="button"
            role="menuitem"
            tabIndex={-1}
            data-kind={isDangerous ? 'danger' : 'plain'}
            aria-disabled={isDisabled}
            onClick={() => {
              if (isDisabled) return
              popover.current?.hidePopover()
              button.current?.focus()
              onSelect()
            }}
          >
            {name}
          </button>
        ))}
      </div>
    </>
  )
}

const GAP = 4

/** Below the button, or above it where there is no room; the right edges are the same. */
function place(button: HTMLElement | null, menu: HTMLElement | null): void {
  if (!button || !menu) return
  const at = button.getBoundingClientRect()
  const fitsBelow = at.bottom + GAP + menu.offsetHeight <= innerHeight
  menu.style.top = `${fitsBelow ? at.bottom + GAP : Math.max(GAP, at.top - GAP - menu.offsetHeight)}px`
  menu.style.left = `${Math.max(GAP, at.right - menu.offsetWidth)}px`
}
