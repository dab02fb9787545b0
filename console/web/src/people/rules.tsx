/** Who may sign in: the rules, the invitations, what the roles allow, and what a person would get. */

import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { Confirm } from '../components/confirm.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Cell, Row, Table } from '../components/table.tsx'
import { hasDraft } from '../drafts.ts'
import { Projects } from '../keys/keys.tsx'
import { showMessage } from '../messages.ts'
import {
  deleteRule,
  type Identity,
  labelOf,
  peopleOf,
  type Rule,
  refreshSignIn,
  rulesQuery,
  shortIssuer,
  useIdentities,
  useMaySignIn,
} from '../sign-in-data.ts'
import { Invitations } from './invitations.tsx'
import styles from './people.module.css'
import { ROLE_WORDS, Roles } from './roles.tsx'
import { draftOfRule, EditRule, NEW_RULE, NewRule } from './rule-form.tsx'
import { Tabs } from './tabs.tsx'
import { TryOut } from './try-out.tsx'
import { WhatEnds } from './what-ends.tsx'

export const Route = createLazyRoute('/app/people/sign-in')({ component: SignIn })

function SignIn() {
  const may = useMaySignIn()
  const [isCreating, setIsCreating] = useState(() => hasDraft(NEW_RULE))
  return (
    <Page
      title="People"
      actions={
        may.write && (
          <button type="button" data-kind="primary" onClick={() => setIsCreating(true)}>
            New rule
          </button>
        )
      }
    >
      <Tabs current="sign-in" />
      {may.read ? (
        <Rules />
      ) : (
        <p className="quiet">This session may not read who may sign in, or is restricted to projects.</p>
      )}
      {isCreating && <NewRule onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

function Rules() {
  const { data: rules, error, refetch } = useQuery(rulesQuery)
  const identities = useIdentities()
  if (!rules) return error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />
  return (
    <div className={styles.sections}>
      <section aria-labelledby="rules">
        <h2 id="rules">Rules</h2>
        <p className={`quiet ${styles.above}`}>
          People who match a rule may sign in, and people who are invited. If several rules match, the highest role
          counts.
        </p>
        {rules.length === 0 ? (
          <Empty title="Nobody can sign in yet">
            A rule gives everybody with a claim of your identity provider, such as a group, a role. Without rules,
            people come in with API keys only.
          </Empty>
        ) : (
          <List rules={rules} identities={identities} />
        )}
      </section>
      <Invitations />
      <TryOut rules={rules} />
      <Roles />
    </div>
  )
}

interface ListProps {
  readonly rules: readonly Rule[]
  readonly identities: readonly Identity[] | undefined
}

interface Shown {
  readonly rule: Rule
  readonly dialog: 'edit' | 'delete'
}

function List({ rules, identities }: ListProps) {
  const may = useMaySignIn()
  const [shown, setShown] = useState<Shown | undefined>(() => {
    const rule = rules.find(({ id }) => hasDraft(draftOfRule(id)))
    return rule && { rule, dialog: 'edit' }
  })
  const close = () => setShown(undefined)
  return (
    <>
      <Table
        columns={[
          { name: 'Who', width: 'minmax(0, 3fr)' },
          { name: 'Role', width: '80px' },
          { name: 'Projects', width: 'minmax(0, 2fr)', isWideOnly: true },
          { name: 'People', width: '80px', isWideOnly: true },
          may.write && { name: 'Actions', width: '48px', isUnlabelled: true },
        ]}
        rowHeight={58}
      >
        {rules.map((rule) => (
          <Row key={rule.id}>
            <Cell>
              <bdi className="anywhere">{labelOf(rule)}</bdi>
              <div className="quiet small anywhere">
                <bdi>{shortIssuer(rule.issuer)}</bdi>
              </div>
            </Cell>
            <Cell>{ROLE_WORDS[rule.role].name}</Cell>
            <Cell className="wide-only">
              <Projects projectIds={rule.projectIds} />
            </Cell>
            <Cell className="wide-only">{identities && peopleOf(rule, identities).length}</Cell>
            {may.write && (
              <Cell className={styles.menu}>
                <Menu
                  label={`Actions for ${labelOf(rule)}`}
                  items={[
                    { label: 'Edit', onSelect: () => setShown({ rule, dialog: 'edit' }) },
                    { label: 'Delete', isDangerous: true, onSelect: () => setShown({ rule, dialog: 'delete' }) },
                  ]}
                />
              </Cell>
            )}
          </Row>
        ))}
      </Table>
      {shown?.dialog === 'edit' && <EditRule id={shown.rule.id} identities={identities} onClose={close} />}
      {shown?.dialog === 'delete' && <DeleteRule rule={shown.rule} identities={identities} onClose={close} />}
    </>
  )
}

interface DeleteRuleProps {
  readonly rule: Rule
  readonly identities: readonly Identity[] | undefined
  readonly onClose: () => void
}

function DeleteRule({ rule, identities, onClose }: DeleteRuleProps) {
  const label = labelOf(rule)
  return (
    <Confirm
      title={`Delete the rule ${label}?`}
      verb="Delete"
      act={async () => {
        await deleteRule(rule.id)
        showMessage(`The rule ${label} is deleted.`)
        await refreshSignIn()
      }}
      onClose={onClose}
    >
      <div className={styles.body}>
        <p>It admits nobody from now on.</p>
        {identities && (
          <WhatEnds
            areNamed
            people={peopleOf(rule, identities)}
            after="They sign in again if another rule admits them."
          />
        )}
      </div>
    </Confirm>
  )
}
