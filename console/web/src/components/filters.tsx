/** What narrows a list. The values are in the address of the page. */

import { Search } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import styles from './filters.module.css'

export function Filters({ children }: { readonly children: ReactNode }) {
  return <search className={styles.filters}>{children}</search>
}

const PAUSE_MS = 200

interface SearchFieldProps {
  readonly label: string
  readonly value: string | undefined
  /** Called when the person pauses. */
  readonly onChange: (value: string | undefined) => void
}

/** The key "/" moves the focus into it. */
export function SearchField({ label, value = '', onChange }: SearchFieldProps) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    // The address has changed by other means: a link, or back.
    if (value !== sent.current) setText(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const { pathname } = location
    const timer = setTimeout(() => {
      // A link was followed: the next page is on its way.
      if (location.pathname !== pathname) return
      sent.current = text
      onChange(text.trim() || undefined)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, onChange])
  return (
    <span className={styles.search}>
      <Search size={16} aria-hidden="true" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        aria-keyshortcuts="/"
        data-search
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </span>
  )
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value | undefined
  readonly options: readonly (readonly [value: Value, label: string])[]
  /** The name of no choice. */
  readonly all: string
  readonly onChange: (value: Value | undefined) => void
}

export function Choice<Value extends string>({ label, value, options, all, onChange }: ChoiceProps<Value>) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(options.find(([each]) => each === event.target.value)?.[0])}
    >
      <option value="">{all}</option>
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** The options of a choice by name. The address may name what is gone. */
export function withChosen(names: ReadonlyMap<string, string>, chosen: string | undefined) {
  const options = Array.from(names)
  return chosen === undefined || names.has(chosen) ? options : [...options, [chosen, chosen] as const]
}
