/** How a person signs in, what their role is, and what can be done about it. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Confirm } from '../components/confirm.tsx'
import { Facts } from '../components/facts.tsx'
import { Check, FormDialog } from '../components/field.tsx'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { hasDraft, useDraft } from '../drafts.ts'
import { Projects } from '../keys/keys.tsx'
import { showError, showMessage } from '../messages.ts'
import {
  type Access,
  type Identity,
  labelOf,
  refreshSignIn,
  removeAccess,
  rulesQuery,
  setAccess,
  setBlocked,
  shortIssuer,
  useIdentities,
  useMaySignIn,
} from '../sign-in-data.ts'
import styles from './people.module.css'
import { AccessFields, problemOfAccess, ROLE_WORDS } from './roles.tsx'
import { WhatEnds } from './what-ends.tsx'

export function Identities({ userId }: { readonly userId: string }) {
  const identities = useIdentities()?.filter((identity) => identity.userId === userId) ?? []
  if (identities.length === 0) return null
  return (
    <section>
      <h2>Sign-in</h2>
      {identities.map((identity) => (
        <OneIdentity key={identity.id} identity={identity} />
      ))}
    </section>
  )
}

function RuleNames({ ids }: { readonly ids: readonly string[] }) {
  const { data: rules } = useQuery(rulesQuery)
  const names = rules?.filter(({ id }) => ids.includes(id)).map(labelOf)
  // A rule that gave a role at the last sign-in may have changed or gone since.
  if (names?.length === 0) return 'a rule that is gone'
  return (
    <Link to="/people/sign-in">
      {ids.length === 1 ? 'the rule' : 'the rules'} <bdi>{names?.join(', ')}</bdi>
    </Link>
  )
}

type Asked = 'role' | 'block' | 'remove'

function OneIdentity({ identity }: { readonly identity: Identity }) {
  const { id, issuer, subject, email, userName, role, projectIds, ruleIds, blockedAt, lastSignInAt } = identity
  const may = useMaySignIn()
  const [asked, setAsked] = useState<Asked | undefined>(() => (hasDraft(draftOfRole(id)) ? 'role' : undefined))
  const close = () => setAsked(undefined)
  const unblock = useMutation({
    mutationFn: () => setBlocked(id, false),
    onError: showError,
    onSuccess: async () => {
      showMessage(`${userName} can sign in again.`)
      await refreshSignIn()
    },
  })
  return (
    <>
      {blockedAt && (
        <p>
          <Status tone="bad">Blocked</Status> <Time at={blockedAt} />
        </p>
      )}
      <Facts
        facts={[
          ['Role', ROLE_WORDS[role].name],
          ['Given by', ruleIds === null ? 'an admin, to this person' : <RuleNames key="rules" ids={ruleIds} />],
          ['Projects', <Projects key="projects" projectIds={projectIds} />],
          ['Last sign-in', lastSignInAt ? <Time key="last" at={lastSignInAt} /> : 'never'],
          ['E-mail', email],
          ['Provider', shortIssuer(issuer)],
          ['ID there', <code key="subject">{subject}</code>],
        ]}
      />
      {may.write && (
        <div className={styles.buttons}>
          <button type="button" onClick={() => setAsked('role')}>
            Change role
          </button>
          {blockedAt ? (
            <button type="button" disabled={unblock.isPending} onClick={() => unblock.mutate()}>
              Unblock
            </button>
          ) : (
            <button type="button" onClick={() => setAsked('block')}>
              Block
            </button>
          )}
          <button type="button" data-kind="danger" onClick={() => setAsked('remove')}>
            Remove access
          </button>
        </div>
      )}
      {asked === 'role' && <ChangeRole identity={identity} onClose={close} />}
      {asked === 'block' && (
        <Confirm
          title={`Block ${userName}?`}
          verb="Block"
          act={async () => {
            await setBlocked(id, true)
            showMessage(`${userName} is blocked.`)
            await refreshSignIn()
          }}
          onClose={close}
        >
          <WhatEnds people={[identity]} after="They cannot sign in until somebody unblocks them." />
        </Confirm>
      )}
      {asked === 'remove' && (
        <Confirm
          title={`Remove the access of ${userName}?`}
          verb="Remove"
          act={async () => {
            await removeAccess(id)
            showMessage(`The access of ${userName} is removed.`)
            await refreshSignIn()
          }}
          onClose={close}
        >
          <WhatEnds
            people={[identity]}
            after="The person stays in the list. If a rule still admits them, they can sign in again, as a new person: to keep them out, block them instead."
          />
        </Confirm>
      )}
    </>
  )
}

const draftOfRole = (identityId: string) => `role/${identityId}`

interface ChangeRoleProps {
  readonly identity: Identity
  readonly onClose: () => void
}

function ChangeRole({ identity, onClose }: ChangeRoleProps) {
  const { id, userName, role, projectIds, ruleIds } = identity
  const [{ isByRules, access }, setFields, draft] = useDraft<{ readonly isByRules: boolean; readonly access: Access }>(
    draftOfRole(id),
    { isByRules: ruleIds !== null, access: { role, projectIds } },
  )
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => setAccess(id, isByRules ? null : access),
    onSuccess: async () => {
      showMessage(isByRules ? `The rules decide about ${userName}.` : `${userName} is ${ROLE_WORDS[access.role].name}.`)
      draft.drop()
      onClose()
      await refreshSignIn()
    },
  })
  return (
    <FormDialog
      title={`Change the role of ${userName}`}
      verb="Save"
      draft={draft}
      isPending={isPending}
      error={error}
      problem={isByRules ? undefined : problemOfAccess(access)}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <fieldset>
        <legend>Who decides</legend>
        <div className={styles.buttons}>
          <Check
            type="radio"
            label="The rules"
            isChecked={isByRules}
            onChange={() => setFields({ isByRules: true, access })}
          />
          <Check
            type="radio"
            label="A role of their own, whatever the rules say"
            isChecked={!isByRules}
            onChange={() => setFields({ isByRules: false, access })}
          />
        </div>
      </fieldset>
      {!isByRules && <AccessFields access={access} onChange={(chosen) => setFields({ isByRules, access: chosen })} />}
      <WhatEnds people={[identity]} after="They sign in again, with the role that they have then." />
    </FormDialog>
  )
}
