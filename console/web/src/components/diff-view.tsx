/** CodeMirror, with the lines of two texts in one: it draws only those that are visible. */
import { EditorState, type Range } from '@codemirror/state'
import { Decoration, EditorView } from '@codemirror/view'
import { useEffect, useMemo, useRef } from 'react'
import { visible } from '../visible.ts'
import styles from './code.module.css'
import { cspNonce, partsOf } from './code-view.tsx'
import { type DiffLine, diffLines, wholeLines } from './diff-lines.ts'

export interface DiffProps {
  /** Undefined: there was no such file. */
  readonly before: string | undefined
  /** Undefined: there is no such file any more. */
  readonly after: string | undefined
  /** What it is, for screen readers. */
  readonly label: string
  readonly hidesUnchanged?: boolean
}

const SIGNS = { same: '  ', removed: '- ', added: '+ ', hidden: '⋯ ' } as const

export default function DiffView({ before, after, label, hidesUnchanged = true }: DiffProps) {
  const element = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => {
    if (before === undefined) return wholeLines(after ?? '', 'added')
    return after === undefined ? wholeLines(before, 'removed') : diffLines(before, after, hidesUnchanged)
  }, [before, after, hidesUnchanged])
  useEffect(() => {
    const { doc, decorations } = toDocument(lines)
    const view = new EditorView({
      parent: element.current as HTMLElement,
      state: EditorState.create({
        doc,
        extensions: [
          cspNonce(),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': visible(label), 'aria-readonly': 'true' }),
          EditorView.lineWrapping,
          EditorView.decorations.of(Decoration.set(decorations)),
        ],
      }),
    })
    return () => view.destroy()
  }, [lines, label])
  return <div ref={element} className={`${styles.code} ${styles.diff}`} />
}

/** The text with the sign of each line at its beginning, as it is read aloud and copied. */
function toDocument(lines: readonly DiffLine[]): { doc: string; decorations: Range<Decoration>[] } {
  const texts: string[] = []
  const decorations: Range<Decoration>[] = []
  let position = 0
  for (const { kind, text, marks = [] } of lines) {
    const sign = SIGNS[kind]
    const parts = partsOf(text)
    for (const part of parts) {
      if (kind !== 'same') decorations.push(Decoration.line({ class: styles[kind] ?? '' }).range(position))
      if (parts.length === 1) {
        for (const [from, to] of marks) {
          const start = position + sign.length
          decorations.push(Decoration.mark({ class: styles.mark ?? '' }).range(start + from, start + to))
        }
      }
      texts.push(sign + part)
      position += sign.length + part.length + 1
    }
  }
  return { doc: texts.join('\n'), decorations }
}
