/** Markdown of agents, shown without HTML. The parser is loaded when it is needed. */

import { lazy, Suspense } from 'react'
import { loadPart } from '../connection.ts'
import type { MarkdownProps } from './markdown-view.tsx'
import { Skeleton } from './note.tsx'

const MarkdownView = lazy(() => loadPart(() => import('./markdown-view.tsx')))

export function Markdown(props: MarkdownProps) {
  return (
    <Suspense fallback={<Skeleton />}>
      <MarkdownView {...props} />
    </Suspense>
  )
}
