/** The keys that work on every page. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Dialog } from '../components/dialog.tsx'
import styles from './keys.module.css'
import { PAGES } from './pages.ts'

/** How long after "g" the letter of a page may follow. */
const CHORD_MS = 1500

export function useKeys(onHelp: () => void): void {
  const navigate = useNavigate()
  useEffect(() => {
    let chordUntil = 0
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = (event.target as Element).closest('input, textarea, select, [contenteditable], dialog')
      if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return
      const page = event.timeStamp < chordUntil ? PAGES.find(({ letter }) => letter === event.key) : undefined
      chordUntil = event.key === 'g' ? event.timeStamp + CHORD_MS : 0
      if (page) void navigate({ to: page.to })
      else if (event.key === '?') onHelp()
      else if (event.key === '/') document.querySelector<HTMLInputElement>('[data-search]')?.focus()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [navigate, onHelp])
}

export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className={styles.keys}>
        <Key keys={['/']} what="Search on this page" />
        <Key keys={['?']} what="Show this list" />
        {PAGES.map(({ name, letter }) => (
          <Key key={name} keys={['g', letter]} what={`Go to ${name}`} />
        ))}
      </dl>
    </Dialog>
  )
}

function Key({ keys, what }: { readonly keys: readonly string[]; readonly what: string }) {
  return (
    <div>
      <dt>
        {keys.map((key, index) => (
          <span key={key}>
            {index > 0 && ' then '}
            <kbd>{key}</kbd>
          </span>
        ))}
      </dt>
      <dd>{what}</dd>
    </div>
  )
}
