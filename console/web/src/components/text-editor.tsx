/** Text to write. The editor is loaded when it is needed. */

import { lazy, Suspense } from 'react'
import { loadPart } from '../connection.ts'
import { Skeleton } from './note.tsx'
import type { TextEditorProps } from './text-editor-view.tsx'

const TextEditorView = lazy(() => loadPart(() => import('./text-editor-view.tsx')))

export function TextEditor(props: TextEditorProps) {
  return (
    <Suspense fallback={<Skeleton />}>
      <TextEditorView {...props} />
    </Suspense>
  )
}
