/** The page that writes a new skill. */
import { createLazyRoute } from '@tanstack/react-router'
import { useCan } from '../api.ts'
import { Page } from '../components/page.tsx'
import { ENTRY_FILE } from './data.ts'
import { SkillEditor } from './editor.tsx'

export const Route = createLazyRoute('/app/skills/new')({ component: NewSkill })

const CONTENT = `---
name: new-skill
description: What it does, and when to use it.
---

1. What agents do first.
`

const FILES = [{ filename: ENTRY_FILE, content: CONTENT, encoding: 'utf-8', executable: false }] as const

function NewSkill() {
  if (useCan()('skills:write')) return <SkillEditor title="New skill" files={FILES} />
  return (
    <Page title="New skill">
      <p className="quiet">This session may not change skills.</p>
    </Page>
  )
}
