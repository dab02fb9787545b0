/** The form of a rule, for a new one and for an existing one. */

import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMe } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import fieldStyles from '../components/field.module.css'
import { Check, Field, FormDialog } from '../components/field.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { type Draft, useDraft } from '../drafts.ts'
import { WorkspaceError } from '../errors.ts'
import { showMessage } from '../messages.ts'
import {
  type Access,
  changeRule,
  createRule,
  EVERYBODY,
  type Identity,
  labelOf,
  peopleOf,
  type Rule,
  type RuleSettings,
  refreshSignIn,
  ruleQuery,
} from '../sign-in-data.ts'
import { IssuerField, useOnlyIssuer } from './issuer-field.tsx'
import { AccessFields, problemOfAccess } from './roles.tsx'
import { WhatEnds } from './what-ends.tsx'

/** What the fields contain. */
interface Fields {
  /** Undefined until it is typed. */
  readonly issuer: string | undefined
  readonly isForAll: boolean
  readonly claim: string
  readonly value: string
  readonly access: Access
}

function settingsOf(issuer: string, { isForAll, claim, value, access }: Fields): RuleSettings {
  const who = isForAll ? { claim: EVERYBODY, value: issuer } : { claim: claim.trim(), value }
  return { issuer, ...who, role: access.role, projectIds: access.projectIds && Array.from(access.projectIds) }
}

function fieldsOf({ issuer, claim, value, role, projectIds }: Rule): Fields {
  const isForAll = claim === EVERYBODY && value === issuer
  return {
    issuer,
    isForAll,
    claim: isForAll ? '' : claim,
    value: isForAll ? '' : value,
    access: { role, projectIds },
  }
}

/** The drafts of the editors. */
export const NEW_RULE = 'rule'
export const draftOfRule = (id: string) => `rule/${id}`

export function NewRule({ onClose }: { readonly onClose: () => void }) {
  const { projectIds } = useMe().apiKey
  const [fields, setFields, draft] = useDraft<Fields>(NEW_RULE, {
    issuer: undefined,
    isForAll: false,
    claim: '',
    value: '',
    access: { role: 'viewer', projectIds },
  })
  const { mutate, isPending, error } = useMutation({
    mutationFn: createRule,
    onSuccess: async (rule) => {
      showMessage(`The rule ${labelOf(rule)} is created.`)
      draft.drop()
      onClose()
      await refreshSignIn()
    },
  })
  return (
    <RuleForm
      title="New rule"
      verb="Create"
      fields={fields}
      onChange={setFields}
      draft={draft}
      isPending={isPending}
      error={error}
      onSave={mutate}
      onClose={onClose}
    />
  )
}

interface EditRuleProps {
  readonly id: string
  readonly identities: readonly Identity[] | undefined
  readonly onClose: () => void
}

/** Begins with the rule as it is now. */
export function EditRule({ id, identities, onClose }: EditRuleProps) {
  const { data, error, refetch } = useQuery({ ...ruleQuery(id), staleTime: Number.POSITIVE_INFINITY, gcTime: 0 })
  if (data) return <Edit {...data} identities={identities} onClose={onClose} />
  return (
    <Dialog title="Edit the rule" onClose={onClose}>
      {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
    </Dialog>
  )
}

type EditProps = Omit<EditRuleProps, 'id'> & { readonly rule: Rule; readonly etag: string | null }

function Edit({ rule: given, etag: givenTag, identities, onClose }: EditProps) {
  // What comes in meanwhile does not change what the person edits.
  const [{ rule, etag, fields }, setTyped, draft] = useDraft(draftOfRule(given.id), () => ({
    rule: given,
    etag: givenTag,
    fields: fieldsOf(given),
  }))
  const { mutate, isPending, error } = useMutation({
    mutationFn: (settings: RuleSettings) => changeRule(rule.id, settings, etag),
    onSuccess: async (changed) => {
      showMessage(`The rule ${labelOf(changed)} is saved.`)
      draft.drop()
      onClose()
      await refreshSignIn()
    },
  })
  const hasChanged = error instanceof WorkspaceError && error.code === 'etag_mismatch'
  return (
    <RuleForm
      title={`Edit the rule ${labelOf(rule)}`}
      verb="Save"
      fields={fields}
      onChange={(changed) => setTyped({ rule, etag, fields: changed })}
      draft={draft}
      isPending={isPending}
      error={
        hasChanged
          ? new Error('Somebody has changed this rule since you opened it. Close, look at it, and edit it again.')
          : error
      }
      onSave={mutate}
      onClose={onClose}
    >
      {identities && (
        <WhatEnds areNamed people={peopleOf(rule, identities)} after="They can sign in again if a rule admits them." />
      )}
    </RuleForm>
  )
}

interface RuleFormProps {
  readonly title: string
  readonly verb: string
  readonly fields: Fields
  readonly onChange: (fields: Fields) => void
  readonly draft: Draft
  readonly isPending: boolean
  readonly error: unknown
  readonly onSave: (settings: RuleSettings) => void
  readonly onClose: () => void
  /** What the change ends. */
  readonly children?: ReactNode
}

function RuleForm({
  title,
  verb,
  fields,
  onChange: setFields,
  draft,
  isPending,
  error,
  onSave,
  onClose,
  children,
}: RuleFormProps) {
  const onlyIssuer = useOnlyIssuer()
  const { issuer = onlyIssuer, isForAll, claim, value, access } = fields
  return (
    <FormDialog
      title={title}
      verb={verb}
      draft={draft}
      isPending={isPending}
      error={error}
      problem={problemOfAccess(access)}
      onSubmit={() => onSave(settingsOf(issuer.trim(), fields))}
      onClose={onClose}
    >
      <IssuerField value={issuer} onChange={(typed) => setFields({ ...fields, issuer: typed })} />
      <fieldset>
        <legend>Who</legend>
        <div className={fieldStyles.lines}>
          <Check
            type="radio"
            label="People with a claim"
            isChecked={!isForAll}
            onChange={() => setFields({ ...fields, isForAll: false })}
          />
          <Check
            type="radio"
            label="Everybody of this provider"
            isChecked={isForAll}
            onChange={() => setFields({ ...fields, isForAll: true })}
          />
        </div>
      </fieldset>
      {!isForAll && (
        <>
          <Field label="Claim" help="Such as groups, or realm_access.roles for a field within another.">
            {(attributes) => (
              <input
                {...attributes}
                required
                spellCheck={false}
                autoCapitalize="none"
                value={claim}
                onChange={({ target }) => setFields({ ...fields, claim: target.value })}
              />
            )}
          </Field>
          <Field label="Value" help="The value of the claim, or one of its values. Upper and lower case differ.">
            {(attributes) => (
              <input
                {...attributes}
                required
                spellCheck={false}
                autoCapitalize="none"
                value={value}
                onChange={({ target }) => setFields({ ...fields, value: target.value })}
              />
            )}
          </Field>
        </>
      )}
      <AccessFields access={access} onChange={(chosen) => setFields({ ...fields, access: chosen })} />
      {children}
    </FormDialog>
  )
}
