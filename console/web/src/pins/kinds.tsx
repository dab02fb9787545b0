/** The kinds of resources that can be pinned. */
import { Files, Folder, GitPullRequest } from 'lucide-react'
import type { Pin } from './data.ts'

const KINDS = {
  session: { word: 'Session', Icon: Files },
  pull_request: { word: 'Pull request', Icon: GitPullRequest },
  project: { word: 'Project', Icon: Folder },
} as const

export type Kind = Pin['resourceType']

export const wordOf = (kind: Kind) => KINDS[kind].word

export function KindIcon({ kind }: { readonly kind: Kind }) {
  const { Icon } = KINDS[kind]
  return <Icon size={16} aria-hidden="true" />
}
