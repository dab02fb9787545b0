/** The feeds of skills: addresses from which the installers of coding agents install them without an API key. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import fieldStyles from '../components/field.module.css'
import { Check, Field, FormDialog } from '../components/field.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { Time, useNow } from '../components/time.tsx'
import { hasDraft, useDraft } from '../drafts.ts'
import { showMessage } from '../messages.ts'
import { visible } from '../visible.ts'
import { createFeed, type Feed, feedsQuery, namesOfSkillsQuery, revokeFeed } from './data.ts'
import styles from './skill.module.css'

export const Route = createLazyRoute('/app/skills/feeds')({ component: Feeds })

function Feeds() {
  const can = useCan()
  const [isCreating, setIsCreating] = useState(() => hasDraft(NEW_FEED))
  return (
    <Page
      title="Feeds of skills"
      details={
        <p className="quiet">
          <Link to="/skills">Skills</Link> · addresses from which coding agents install skills without an API key
        </p>
      }
      actions={
        can('skill-feeds:write') && (
          <button type="button" data-kind="primary" onClick={() => setIsCreating(true)}>
            New feed
          </button>
        )
      }
    >
      {can('skill-feeds:read') ? (
        <List canRevoke={can('skill-feeds:write')} />
      ) : (
        <p className="quiet">This session may not read feeds.</p>
      )}
      {isCreating && <NewFeed onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

function List({ canRevoke }: { readonly canRevoke: boolean }) {
  const { data, error, refetch } = useQuery(feedsQuery)
  const [revoked, setRevoked] = useState<Feed>()
  if (!data) return error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />
  if (data.items.length === 0) {
    return (
      <Empty title="No feeds yet">
        A feed is a secret address for <code>npx skills add</code>. Create one for each team or machine, so that you can
        revoke it alone.
      </Empty>
    )
  }
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Skills</th>
            <th>Ends</th>
            <th className="wide-only">Created</th>
            {canRevoke && (
              <th>
                <span className="only-read-aloud">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {data.items.map((feed) => (
            <tr key={feed.id}>
              <td className="anywhere">
                <bdi>{feed.name}</bdi>
              </td>
              <td className="anywhere">
                <Offered feed={feed} />
              </td>
              <td>
                <End feed={feed} />
              </td>
              <td className="wide-only">
                <Time at={feed.createdAt} />
              </td>
              {canRevoke && (
                <td className={styles.menu}>
                  <button
                    type="button"
                    data-kind="danger"
                    aria-label={`Revoke ${feed.name}`}
                    onClick={() => setRevoked(feed)}
                  >
                    Revoke
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          verb="Revoke"
          act={async () => {
            await revokeFeed(revoked.id)
            showMessage(`${revoked.name} revoked.`)
          }}
          onClose={() => setRevoked(undefined)}
        >
          Its address stops to work at once, and cannot be had back. Skills that were installed from it stay installed.
        </Confirm>
      )}
    </>
  )
}

const MAX_NAMED = 3

function Offered({ feed: { skills } }: { readonly feed: Feed }) {
  const canRead = useCan()('skills:read')
  const { data } = useQuery({ ...namesOfSkillsQuery, enabled: canRead && skills !== null })
  if (skills === null) return 'all skills'
  const names = new Map(data?.items.map(({ id, name }) => [id, name]))
  const shown = skills.slice(0, MAX_NAMED).map(({ skillId, version }) => {
    const name = visible(names.get(skillId) ?? skillId)
    return version === null ? name : `${name} (version ${version})`
  })
  const others = skills.length - shown.length
  if (shown.length === 0) return 'none'
  return others > 0 ? `${shown.join(', ')} and ${others} more` : shown.join(', ')
}

function End({ feed: { expiresAt, apiKeyId } }: { readonly feed: Feed }) {
  const { apiKey } = useMe()
  const now = useNow()
  const isOwn = apiKeyId === apiKey.id
  const end = [expiresAt, isOwn ? apiKey.expiresAt : null].filter((time) => time !== null).sort()[0]
  if (end === undefined) return <span className="quiet">with its API key</span>
  if (Date.parse(end) <= now.getTime()) return <>has ended</>
  return (
    <>
      <Time at={end} />
      {isOwn && end === apiKey.expiresAt && ', with this sign-in'}
    </>
  )
}

const NEW_FEED = 'feed'

interface Fields {
  readonly name: string
  readonly isForAll: boolean
  readonly chosen: ReadonlySet<string>
  /** It ends with an API key, not with the sign-in. */
  readonly lasts: boolean
}

const EMPTY: Fields = { name: '', isForAll: true, chosen: new Set(), lasts: false }

function NewFeed({ onClose }: { readonly onClose: () => void }) {
  const canRead = useCan()('skills:read')
  const { expiresAt } = useMe().apiKey
  const { data: skills } = useQuery({ ...namesOfSkillsQuery, enabled: canRead })
  const [fields, setFields, draft] = useDraft(NEW_FEED, EMPTY)
  const { name, isForAll, chosen, lasts } = fields
  const set = (changed: Partial<Fields>) => setFields((before) => ({ ...before, ...changed }))
  const [entered, setEntered] = useState('')
  const { mutate, isPending, error, data } = useMutation({
    // What it returns would be kept otherwise.
    gcTime: 0,
    mutationFn: () =>
      createFeed(
        { name: name.trim(), ...(!isForAll && { skills: Array.from(chosen, (skillId) => ({ skillId })) }) },
        lasts ? entered : undefined,
      ),
    onSuccess: draft.drop,
  })
  if (data) {
    return (
      <SecretOnce
        title={`Install from ${data.name}`}
        word="command"
        // Without this variable, the installer sends the address to its maker.
        secret={`DO_NOT_TRACK=1 npx skills add ${data.url}`}
        onClose={onClose}
      >
        Anybody with its address can read the skills.
      </SecretOnce>
    )
  }
  const toggle = (id: string, isChecked: boolean) => {
    const next = new Set(chosen)
    if (isChecked) next.add(id)
    else next.delete(id)
    set({ chosen: next })
  }
  return (
    <FormDialog
      title="New feed"
      verb="Create"
      draft={draft}
      isPending={isPending}
      error={error}
      problem={name.trim() === '' ? 'Enter a name.' : !isForAll && chosen.size === 0 ? 'Choose the skills.' : undefined}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <Field label="Name" help="Who it is for, such as a team or a machine.">
        {(attributes) => (
          <input {...attributes} value={name} maxLength={255} onChange={({ target }) => set({ name: target.value })} />
        )}
      </Field>
      {skills && skills.items.length > 0 && (
        <fieldset>
          <legend>Skills</legend>
          <div className={fieldStyles.lines}>
            <Check
              type="radio"
              label="All, also later ones"
              isChecked={isForAll}
              onChange={() => set({ isForAll: true })}
            />
            <Check type="radio" label="Only these" isChecked={!isForAll} onChange={() => set({ isForAll: false })} />
          </div>
          {!isForAll && (
            <div className={fieldStyles.box}>
              {skills.items.map((skill) => (
                <Check
                  key={skill.id}
                  label={skill.name}
                  isChecked={chosen.has(skill.id)}
                  onChange={(isChecked) => toggle(skill.id, isChecked)}
                />
              ))}
            </div>
          )}
        </fieldset>
      )}
      <fieldset>
        <legend>It ends</legend>
        <div className={fieldStyles.lines}>
          <Check
            type="radio"
            label={
              <>
                With your sign-in
                {expiresAt !== null && (
                  <>
                    , <Time at={expiresAt} /> at the latest
                  </>
                )}
              </>
            }
            isChecked={!lasts}
            onChange={() => set({ lasts: false })}
          />
          <Check type="radio" label="With an API key" isChecked={lasts} onChange={() => set({ lasts: true })} />
        </div>
      </fieldset>
      {lasts && (
        <Field label="Your API key" help="The feed ends when this key does. The key is used once, and not kept.">
          {(attributes) => (
            <input
              {...attributes}
              type="password"
              required
              autoComplete="current-password"
              spellCheck={false}
              value={entered}
              onChange={({ target }) => setEntered(target.value)}
            />
          )}
        </Field>
      )}
    </FormDialog>
  )
}
