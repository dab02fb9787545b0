/** What differs between two texts. CodeMirror is loaded when it is needed. */

import { lazy, Suspense } from 'react'
import { loadPart } from '../connection.ts'
import type { DiffProps } from './diff-view.tsx'
import { Skeleton } from './note.tsx'

const DiffView = lazy(() => loadPart(() => import('./diff-view.tsx')))

export function Diff(props: DiffProps) {
  return (
    <Suspense fallback={<Skeleton />}>
      <DiffView {...props} />
    </Suspense>
  )
}
