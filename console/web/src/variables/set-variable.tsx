/** Sets a variable. Its value is in the field of the dialog and in the request, and nowhere else. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { refresh, useCan, workspace } from '../api.ts'
import { Check, Field, FormDialog } from '../components/field.tsx'
import { useDraft } from '../drafts.ts'
import { showMessage } from '../messages.ts'
import { useName } from '../names.ts'
import { variablesQuery } from './data.ts'
import styles from './variables.module.css'

/** A field of the type `password` would drop the line breaks of a certificate. */
const CAN_HIDE = CSS.supports('-webkit-text-security', 'disc')

/** Only the name is kept, never the value. */
export const draftOfVariable = (projectId: string, name?: string) => `variable/${projectId}/${name ?? ''}`

interface SetVariableProps {
  readonly projectId: string
  /** The name; undefined: it is asked for. */
  readonly given: string | undefined
  readonly onClose: () => void
}

export function SetVariable({ projectId, given, onClose }: SetVariableProps) {
  const [{ name }, setFields, draft] = useDraft(draftOfVariable(projectId, given), { name: given ?? '' })
  const [isShown, setIsShown] = useState(false)
  const [shape, setShape] = useState('')
  // React copies the value of a controlled textarea into its text, where it would be part of the page.
  const value = useRef<HTMLTextAreaElement>(null)
  const canRead = useCan()('environment-variables:read')
  const { data: variables } = useQuery({ ...variablesQuery(projectId), enabled: canRead })
  const isReplaced = variables?.some(({ key }) => key === name) ?? false
  const projectName = useName('projects', projectId) ?? projectId
  const { mutate, isPending, error } = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      await workspace.projects.environmentVariables.put(projectId, name, { value: value.current?.value ?? '' })
    },
    onSuccess: async () => {
      showMessage(`${name} set.`)
      draft.drop()
      onClose()
      await refresh('variables')
    },
  })
  return (
    <FormDialog
      title={given === undefined ? `New variable in ${projectName}` : `Set ${given} in ${projectName}`}
      verb={isReplaced ? 'Replace the value' : 'Set'}
      draft={draft}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      {given === undefined && (
        <Field label="Name" help={isReplaced ? `${name} exists already: it gets the new value.` : undefined}>
          {(attributes) => (
            <input
              {...attributes}
              required
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={255}
              pattern="[A-Za-z_][A-Za-z0-9_]*"
              title="Letters, digits and underscores, not beginning with a digit, such as DATABASE_URL"
              value={name}
              onChange={({ target }) => setFields({ name: target.value })}
            />
          )}
        </Field>
      )}
      <Field
        label="Value"
        help={
          <>
            {CAN_HIDE ? '' : 'This browser cannot hide it while you type. '}
            Text of one or several lines. It is stored encrypted, and the console never shows it again. {shape}
          </>
        }
      >
        {(attributes) => (
          // It may be a password of another thing: nothing may remember, translate or check it.
          <textarea
            {...attributes}
            ref={value}
            className={styles.value}
            data-hidden={!isShown}
            required
            rows={4}
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            translate="no"
            onInput={({ currentTarget }) => setShape(shapeOf(currentTarget.value))}
          />
        )}
      </Field>
      {CAN_HIDE && <Check label="Show the value while I type" isChecked={isShown} onChange={setIsShown} />}
    </FormDialog>
  )
}

/** What tells whether all of a hidden value was pasted. */
function shapeOf(value: string): string {
  if (value === '') return ''
  const lines = value.replace(/\n$/, '').split('\n').length
  const size = `${value.length} ${value.length === 1 ? 'character' : 'characters'}`
  const end = /\s$/.test(value) ? 'It ends with a space or a line break.' : ''
  return `${lines > 1 ? `${lines} lines, ` : ''}${size}. ${end}`.trim()
}
