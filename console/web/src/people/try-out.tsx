/** "Who would get in?": what the rules give a person with claims that are typed or pasted. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { flattenClaims } from '../../../../src/contracts.ts'
import { Field } from '../components/field.tsx'
import { ErrorNote } from '../components/note.tsx'
import { Status } from '../components/status.tsx'
import { Projects } from '../keys/keys.tsx'
import { type Claims, labelOf, preview, type Rule } from '../sign-in-data.ts'
import { IssuerField, useOnlyIssuer } from './issuer-field.tsx'
import styles from './people.module.css'
import { ROLE_WORDS } from './roles.tsx'

/** @throws if it is neither JSON nor lines such as "groups=admins". */
function claimsOf(text: string): { claims: Claims; issuer?: string } {
  if (text.trimStart().startsWith('{')) return fromToken(text)
  const lines = text.split('\n').map((line) => line.trim())
  const claims = lines.flatMap((line, index) => {
    if (line === '') return []
    const [, claim, value] = /^([^=]+?)\s*=\s*(.+)$/.exec(line) ?? []
    if (claim === undefined || value === undefined) {
      throw new Error(`Line ${index + 1} is not a claim; got "${line}"; allowed: name=value.`)
    }
    return [{ claim, value }]
  })
  return { claims }
}

/** What an ID token says, as the sign-in reads it. @throws if it is not JSON. */
function fromToken(text: string) {
  let token: Record<string, unknown>
  try {
    token = JSON.parse(text)
  } catch (error) {
    throw new Error(`The claims are not JSON: ${(error as Error).message}`)
  }
  const claims = flattenClaims(token).map(([claim, value]) => ({ claim, value }))
  return { claims, ...(typeof token.iss === 'string' && { issuer: token.iss }) }
}

export function TryOut({ rules }: { readonly rules: readonly Rule[] }) {
  const onlyIssuer = useOnlyIssuer()
  const [text, setText] = useState('')
  /** Typed, or that of a token. */
  const [given, setGiven] = useState<string>()
  const issuer = given ?? onlyIssuer
  const { mutate, reset, data, error, isPending } = useMutation({
    mutationFn: async () => preview(issuer.trim(), claimsOf(text).claims),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  const change = (next: string) => {
    setText(next)
    reset()
    if (!given) setGiven(issuerIn(next) ?? given)
  }
  return (
    <section className={styles.body} aria-labelledby="try">
      <h2 id="try">Who would get in?</h2>
      <form className={styles.try} onSubmit={submit}>
        <IssuerField
          value={issuer}
          onChange={(next) => {
            setGiven(next)
            reset()
          }}
        />
        <Field
          label="Claims"
          help="One name=value a line, or the JSON of an ID token. In JSON, an e-mail address counts only with email_verified."
        >
          {(attributes) => (
            <textarea
              {...attributes}
              rows={4}
              spellCheck={false}
              autoCapitalize="none"
              placeholder={'groups=engineers\nemail=ada@example.com'}
              value={text}
              onChange={({ target }) => change(target.value)}
            />
          )}
        </Field>
        <div>
          <button type="submit" disabled={isPending}>
            Try
          </button>
        </div>
        {error && <ErrorNote error={error} />}
        <div role="status">{data && <Result preview={data} rules={rules} />}</div>
      </form>
    </section>
  )
}

function issuerIn(text: string): string | undefined {
  try {
    return claimsOf(text).issuer
  } catch {
    return undefined
  }
}

interface ResultProps {
  readonly preview: Awaited<ReturnType<typeof preview>>
  readonly rules: readonly Rule[]
}

function Result({ preview: { role, projectIds, ruleIds }, rules }: ResultProps) {
  if (role === null) return <Status tone="bad">Does not get in: no rule matches.</Status>
  const labels = ruleIds.map((id) => {
    const rule = rules.find((each) => each.id === id)
    return rule ? labelOf(rule) : id
  })
  return (
    <>
      <Status tone="good">{`Gets in as ${ROLE_WORDS[role].name}`}</Status>
      <p className="quiet anywhere">
        Projects: <Projects projectIds={projectIds} />. By {ruleIds.length === 1 ? 'the rule' : 'the rules'}{' '}
        {labels.map((label, index) => (
          <bdi key={ruleIds[index]}>
            {index > 0 && ', '}
            {label}
          </bdi>
        ))}
        .
      </p>
    </>
  )
}
