/** The invitations: who may sign in once, by an admin's word, and the form of a new one. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMe } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Field, FormDialog } from '../components/field.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Cell, Row, Table } from '../components/table.tsx'
import { Time } from '../components/time.tsx'
import { hasDraft, useDraft } from '../drafts.ts'
import { Projects } from '../keys/keys.tsx'
import { showMessage } from '../messages.ts'
import {
  type Access,
  deleteInvitation,
  type Invitation,
  invitationsQuery,
  invite,
  refreshSignIn,
  shortIssuer,
  useMaySignIn,
} from '../sign-in-data.ts'
import { IssuerField, useOnlyIssuer } from './issuer-field.tsx'
import styles from './people.module.css'
import { AccessFields, problemOfAccess, ROLE_WORDS } from './roles.tsx'

/** Where the invited people sign in. */
const useLink = () => `${location.origin}/sign-in/${useMe().organization.id}`

export function Invitations() {
  const { data: invitations, error, refetch } = useQuery(invitationsQuery)
  const may = useMaySignIn()
  const [isInviting, setIsInviting] = useState(() => hasDraft(NEW_INVITATION))
  return (
    <section aria-labelledby="invitations">
      <div className={styles.heading}>
        <h2 id="invitations">Invitations</h2>
        {may.write && (
          <button type="button" onClick={() => setIsInviting(true)}>
            Invite
          </button>
        )}
      </div>
      <p className={`quiet ${styles.above}`}>
        The first person who signs in with an invited e-mail address gets its role, whatever the rules say. No e-mail is
        sent.
      </p>
      {invitations ? (
        <List invitations={invitations} />
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
      {isInviting && <Invite onClose={() => setIsInviting(false)} />}
    </section>
  )
}

function List({ invitations }: { readonly invitations: readonly Invitation[] }) {
  const may = useMaySignIn()
  const [deleting, setDeleting] = useState<Invitation>()
  const open = invitations.filter(({ acceptedAt }) => acceptedAt === null)
  if (open.length === 0)
    return <Empty title="Nobody is invited">An invitation admits one person, without a rule.</Empty>
  return (
    <>
      <SignInLink />
      <Table
        columns={[
          { name: 'Who', width: 'minmax(0, 3fr)' },
          { name: 'Role', width: '80px' },
          { name: 'Projects', width: 'minmax(0, 2fr)', isWideOnly: true },
          { name: 'Ends', width: '100px', isWideOnly: true },
          may.write && { name: 'Actions', width: '48px', isUnlabelled: true },
        ]}
        rowHeight={58}
      >
        {open.map((invitation) => (
          <Row key={invitation.id}>
            <Cell>
              <bdi className="anywhere">{invitation.email}</bdi>
              <div className="quiet small anywhere">
                <bdi>{shortIssuer(invitation.issuer)}</bdi>
              </div>
            </Cell>
            <Cell>{ROLE_WORDS[invitation.role].name}</Cell>
            <Cell className="wide-only">
              <Projects projectIds={invitation.projectIds} />
            </Cell>
            <Cell className="wide-only">
              {Date.parse(invitation.expiresAt) > Date.now() ? <Time at={invitation.expiresAt} /> : 'has expired'}
            </Cell>
            {may.write && (
              <Cell className={styles.menu}>
                <Menu
                  label={`Actions for ${invitation.email}`}
                  items={[{ label: 'Delete', isDangerous: true, onSelect: () => setDeleting(invitation) }]}
                />
              </Cell>
            )}
          </Row>
        ))}
      </Table>
      {deleting && <DeleteInvitation invitation={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  )
}

function SignInLink() {
  const link = useLink()
  return (
    <p className={styles.above}>
      Send them this link: <code className="anywhere">{link}</code>{' '}
      <button
        type="button"
        onClick={() =>
          void navigator.clipboard.writeText(link).then(
            () => showMessage('The link is copied.'),
            () => showMessage('The browser does not allow copying. Select the link.'),
          )
        }
      >
        Copy
      </button>
    </p>
  )
}

const NEW_INVITATION = 'invitation'

interface Fields {
  readonly email: string
  /** Undefined until it is typed. */
  readonly issuer: string | undefined
  readonly access: Access
}

function Invite({ onClose }: { readonly onClose: () => void }) {
  const { projectIds } = useMe().apiKey
  const onlyIssuer = useOnlyIssuer()
  const [fields, setFields, draft] = useDraft<Fields>(NEW_INVITATION, {
    email: '',
    issuer: undefined,
    access: { role: 'viewer', projectIds },
  })
  const { email, issuer = onlyIssuer, access } = fields
  const set = (changed: Partial<Fields>) => setFields((before) => ({ ...before, ...changed }))
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: invite,
    onSuccess: async () => {
      draft.drop()
      await refreshSignIn()
    },
  })
  if (data) {
    return (
      <Dialog title={`${data.email} is invited`} onClose={onClose}>
        <div className={styles.body}>
          <p>
            No e-mail is sent. The invitation ends <Time at={data.expiresAt} />.
          </p>
          <SignInLink />
        </div>
      </Dialog>
    )
  }
  return (
    <FormDialog
      title="Invite a person"
      verb="Invite"
      draft={draft}
      isPending={isPending}
      error={error}
      problem={problemOfAccess(access)}
      onSubmit={() =>
        mutate({
          email: email.trim(),
          issuer: issuer.trim(),
          role: access.role,
          projectIds: access.projectIds && Array.from(access.projectIds),
        })
      }
      onClose={onClose}
    >
      <Field label="E-mail address" help="The address that the identity provider has verified.">
        {(attributes) => (
          <input
            {...attributes}
            type="email"
            required
            autoComplete="off"
            value={email}
            onChange={({ target }) => set({ email: target.value })}
          />
        )}
      </Field>
      <IssuerField value={issuer} onChange={(typed) => set({ issuer: typed })} />
      <AccessFields access={access} onChange={(chosen) => set({ access: chosen })} />
    </FormDialog>
  )
}

interface DeleteInvitationProps {
  readonly invitation: Invitation
  readonly onClose: () => void
}

function DeleteInvitation({ invitation, onClose }: DeleteInvitationProps) {
  const { email } = invitation
  return (
    <Confirm
      title={`Delete the invitation of ${email}?`}
      verb="Delete"
      act={async () => {
        await deleteInvitation(invitation.id)
        showMessage(`The invitation of ${email} is deleted.`)
        await refreshSignIn()
      }}
      onClose={onClose}
    >
      <p>It admits nobody from now on.</p>
    </Confirm>
  )
}
