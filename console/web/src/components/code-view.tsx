/** CodeMirror, for reading: it draws only the lines that are visible. */
import { type ChangeSpec, EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useMemo, useRef } from 'react'
import { visible } from '../visible.ts'
import styles from './code.module.css'

export interface CodeProps {
  readonly text: string
  /** What it is, for screen readers. */
  readonly label: string
  /** Long lines are wrapped, as those of prose and logs. */
  readonly wraps?: boolean
  /** Not if the text is a part whose first line is not known. */
  readonly hasLineNumbers?: boolean
}

/** It adds a style element, which the policy of the page allows with this nonce only. */
export const cspNonce = () =>
  EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '')

export default function CodeView({ text: given, label, wraps = false, hasLineNumbers = true }: CodeProps) {
  const element = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView>(undefined)
  const shown = useRef('')
  const numbers = useRef<readonly number[]>([])
  const { text, lineNumbers: lines } = useMemo(() => toLines(visible(given)), [given])
  numbers.current = lines
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect below brings a new text into the same editor.
  useEffect(() => {
    const view = new EditorView({
      parent: element.current as HTMLElement,
      state: EditorState.create({
        doc: text,
        extensions: [
          cspNonce(),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          // The keyboard scrolls what has the focus.
          EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': visible(label), 'aria-readonly': 'true' }),
          hasLineNumbers ? lineNumbers({ formatNumber: (line) => String(numbers.current[line - 1] ?? '') }) : [],
          wraps ? EditorView.lineWrapping : [],
        ],
      }),
    })
    editor.current = view
    shown.current = text
    return () => view.destroy()
  }, [label, wraps, hasLineNumbers])
  useEffect(() => {
    const view = editor.current
    if (!view || text === shown.current) return
    view.dispatch({ changes: changeTo(text, shown.current, view.state.doc.length) })
    shown.current = text
  }, [text])
  return <div ref={element} className={styles.code} />
}

/** What is shown stays in its place if the new text only adds to its end or its beginning. */
function changeTo(text: string, previous: string, length: number): ChangeSpec {
  if (text.startsWith(previous)) return { from: length, insert: text.slice(previous.length) }
  if (text.endsWith(previous)) return { from: 0, insert: text.slice(0, text.length - previous.length) }
  return { from: 0, to: length, insert: text }
}

/** Browsers need seconds for a line of a million characters. */
const MAX_LINE_LENGTH = 1000

/** Breaks long lines. @returns the number of each line that begins one of the text. */
function toLines(text: string): { readonly text: string; readonly lineNumbers: readonly number[] } {
  const lines: string[] = []
  const numbers: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    numbers[lines.length] = index + 1
    lines.push(...partsOf(line))
  }
  return { text: lines.join('\n'), lineNumbers: numbers }
}

/** The parts of a line that browsers draw fast. */
export function partsOf(line: string): readonly string[] {
  // By character, because one may have two units.
  return line.length <= MAX_LINE_LENGTH ? [line] : (line.match(LONG_PART) ?? [])
}

const LONG_PART = new RegExp(`.{1,${MAX_LINE_LENGTH}}`, 'gu')
