/** Text with a line for each of its lines, for reading. The editor that shows it is loaded when it is needed. */

import { lazy, Suspense } from 'react'
import { loadPart } from '../connection.ts'
import type { CodeProps } from './code-view.tsx'
import { Skeleton } from './note.tsx'

const CodeView = lazy(() => loadPart(() => import('./code-view.tsx')))

export function Code(props: CodeProps) {
  return (
    <Suspense fallback={<Skeleton />}>
      <CodeView {...props} />
    </Suspense>
  )
}
