/**
 * What a person has typed and not saved. The browser keeps it until it is saved or dropped, so that no reload, no
 * redirect and no end of the session loses it. A secret is never part of it: it stays in the state of its dialog.
 */
import { useEffect, useRef, useState } from 'react'
import { currentPerson } from './session-end.ts'
import { DAY_MS } from './time.ts'

const PREFIX = 'draft:'
const MAX_AGE_MS = 30 * DAY_MS
/** Typing is stored after a pause, or when the page goes. */
const PAUSE_MS = 300

interface Stored<Value> {
  readonly at: string
  readonly value: Value
}

/** What has to be stored, by key. */
const pending = new Map<string, Stored<unknown>>()
/** What the browser has no room for. */
const unstorable = new Set<string>()

window.addEventListener('pagehide', store)

function keyOf(name: string): string | undefined {
  const person = currentPerson()
  return person && `${PREFIX}${person}:${name}`
}

// JSON has no sets.
const toJson = (_key: string, value: unknown) => (value instanceof Set ? { $set: Array.from(value) } : value)
const fromJson = (_key: string, value: { readonly $set?: unknown[] } | null) =>
  Array.isArray(value?.$set) ? new Set(value.$set) : value

function store(): void {
  for (const [key, draft] of pending) {
    try {
      localStorage.setItem(key, JSON.stringify(draft, toJson))
      unstorable.delete(key)
    } catch {
      localStorage.removeItem(key)
      unstorable.add(key)
    }
  }
  pending.clear()
}

function read<Value>(key: string | undefined): Stored<Value> | undefined {
  if (key === undefined) return undefined
  const waiting = pending.get(key)
  if (waiting) return waiting as Stored<Value>
  const json = localStorage.getItem(key)
  const draft: Stored<Value> | undefined = json === null ? undefined : JSON.parse(json, fromJson)
  if (draft && Date.now() - Date.parse(draft.at) < MAX_AGE_MS) return draft
  localStorage.removeItem(key)
  return undefined
}

function drop(key: string): void {
  pending.delete(key)
  unstorable.delete(key)
  localStorage.removeItem(key)
}

/** Drops what a person has typed. */
export function dropDrafts(person: string): void {
  const keys = [...pending.keys(), ...Object.keys(localStorage)]
  for (const key of keys) if (key.startsWith(`${PREFIX}${person}:`)) drop(key)
}

export const hasDraft = (name: string) => read(keyOf(name)) !== undefined

/** What an editor knows of its draft. */
export interface Draft {
  /** When it was typed, if it comes from before. */
  readonly keptSince: string | undefined
  /** False if the browser has no room for it: it goes with the page. */
  readonly isKept: () => boolean
  /** It was saved, or the person does not want it. */
  readonly drop: () => void
}

/**
 * A state that is kept. @param name of the editor and of what it changes, such as `rule/…`.
 * @param initial what the editor begins with, if nothing was typed before. Never a secret.
 */
export function useDraft<Value extends object>(name: string, initial: Value | (() => Value)) {
  // The editor stays when somebody else signs in, until the page goes.
  const [key] = useState(() => keyOf(name))
  const [kept] = useState(() => read<Value>(key))
  const [value, setValue] = useState<Value>(() => {
    const first = typeof initial === 'function' ? initial() : initial
    // An earlier version of the console may have had other fields.
    return kept ? { ...first, ...kept.value } : first
  })
  const isTyped = useRef(false)
  const set = (next: Value | ((before: Value) => Value)) => {
    isTyped.current = true
    setValue(next)
  }
  useEffect(() => {
    if (!isTyped.current || key === undefined) return
    pending.set(key, { at: new Date().toISOString(), value })
    const timer = setTimeout(store, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [key, value])
  const draft: Draft = {
    keptSince: kept?.at,
    isKept: () => {
      store()
      return key !== undefined && !unstorable.has(key)
    },
    drop: () => {
      isTyped.current = false
      if (key !== undefined) drop(key)
    },
  }
  return [value, set, draft] as const
}
