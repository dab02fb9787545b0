/** CodeMirror, for writing. Characters that nobody sees have a picture. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { EditorState } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useEffectEvent, useRef } from 'react'
import { visible } from '../visible.ts'
import styles from './code.module.css'
import { cspNonce } from './code-view.tsx'

export interface TextEditorProps {
  /** What it begins with. A later one is another text: give the editor a key. */
  readonly text: string
  /** What it is, for screen readers. */
  readonly label: string
  readonly onChange: (text: string) => void
}

/** What CodeMirror does not count as special: direction of text, zero width, tags. Joiners belong to words and emoji. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cf}\p{Zl}\p{Zp}]/gu

export default function TextEditorView({ text, label, onChange }: TextEditorProps) {
  const element = useRef<HTMLDivElement>(null)
  const changed = useEffectEvent(onChange)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor keeps what is typed; the text is its beginning.
  useEffect(() => {
    const lineBreak = lineBreakOf(text)
    const view = new EditorView({
      parent: element.current as HTMLElement,
      state: EditorState.create({
        doc: text,
        extensions: [
          cspNonce(),
          EditorView.contentAttributes.of({ 'aria-label': visible(label) }),
          EditorView.lineWrapping,
          lineNumbers(),
          highlightSpecialChars({ addSpecialChars: UNSEEN }),
          history(),
          // Tab moves the focus, as everywhere.
          keymap.of([...historyKeymap, ...defaultKeymap]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) changed(state.sliceDoc().replaceAll('\n', lineBreak))
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [label])
  return <div ref={element} className={styles.code} />
}

/** CodeMirror has line feeds only. A text with line breaks of several kinds has line feeds when it has been changed. */
function lineBreakOf(text: string): string {
  return text.includes('\r') && !/\r(?!\n)|(?<!\r)\n/.test(text) ? '\r\n' : '\n'
}
