/** Short messages for the person: what was done, or why it was not. components/toast.tsx shows them. */
import { messageOf } from './errors.ts'

export interface Message {
  readonly id: number
  readonly text: string
  readonly isError: boolean
  readonly action: MessageAction | undefined
}

/** What the message offers, such as to undo what was done. */
export interface MessageAction {
  readonly label: string
  readonly onSelect: () => void
}

const SHOWN_MS = 6000

let messages: readonly Message[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Message[]): void {
  messages = next
  for (const listener of listeners) listener()
}

/** Errors stay until they are closed. What is shown is not shown twice. */
export function showMessage(text: string, isError = false, action?: MessageAction): void {
  if (isError && messages.some((shown) => shown.text === text)) return
  lastId += 1
  const id = lastId
  set([...messages.slice(-2), { id, text, isError, action }])
  if (!isError) setTimeout(() => closeMessage(id), SHOWN_MS)
}

export function showError(error: unknown): void {
  showMessage(messageOf(error), true)
}

export function closeMessage(id: number): void {
  set(messages.filter((message) => message.id !== id))
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const shownMessages = () => messages
