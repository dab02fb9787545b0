/** One skill: the files of a version, all versions, and what differs between two of them. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link, Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import { Menu } from '../components/menu.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Time } from '../components/time.tsx'
import { useShowDeleted } from '../deleted/data.ts'
import { showError, showMessage } from '../messages.ts'
import { changesOf } from './changes.ts'
import {
  archivePath,
  publish,
  readCurrent,
  refreshSkills,
  remove,
  type Skill as SkillData,
  skillQuery,
  type VersionSummary,
  versionBefore,
  versionQuery,
} from './data.ts'
import { FileChanges } from './file-changes.tsx'
import styles from './skill.module.css'
import { SkillFiles } from './skill-files.tsx'
import { Author, Message, Versions } from './versions.tsx'

export const Route = createLazyRoute('/app/skills/$skillId')({ component: Skill })

function Skill() {
  const { skillId } = Route.useParams()
  const isAllowed = useCan()('skills:read')
  const { data, error, refetch } = useQuery({ ...skillQuery(skillId), enabled: isAllowed })
  if (data) return <Loaded key={skillId} skillId={skillId} skill={data} />
  return (
    <Page title="Skill">
      {!isAllowed ? (
        <p className="quiet">This session may not read skills.</p>
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

/** Otherwise, the router takes the link without parameters for that of all views. */
const EXACT = { exact: true, includeSearch: true } as const

interface LoadedProps {
  readonly skillId: string
  readonly skill: SkillData
}

function Loaded({ skillId, skill }: LoadedProps) {
  const { versions, current, etag } = skill
  const { version: number = current.version, view, file, from, to, at } = Route.useSearch()
  const canWrite = useCan()('skills:write')
  const publication = usePublication(skillId, current.version, etag)
  const comparesTwo = from !== undefined && to !== undefined
  // The service says that a version is not kept any more.
  const shown = versions.find(({ version }) => version === number)
  const before = versionBefore(versions, number)
  const name = (shown ?? current).name
  if (at !== undefined) return <Navigate {...placeOfChange(skillId, versions, at)} replace />
  const isFiles = view !== 'versions' && !comparesTwo
  return (
    <Page
      title={name}
      details={
        <>
          <p className={`anywhere ${styles.description}`}>{(shown ?? current).description}</p>
          {shown && (
            <p className="quiet anywhere">
              Version {number} · <Message version={shown} /> · <Author version={shown} />, <Time at={shown.createdAt} />
            </p>
          )}
        </>
      }
      actions={
        <>
          {canWrite && number === current.version && (
            <Link className="button" to="/skills/$skillId/edit" params={{ skillId }} search={{ file }}>
              Edit
            </Link>
          )}
          <a className="button" href={archivePath(skillId, number)} download>
            Download
          </a>
          {canWrite && <Deletion skillId={skillId} name={name} />}
        </>
      }
    >
      <nav aria-label="Views of the skill" className={styles.views}>
        <Link
          to="/skills/$skillId"
          params={{ skillId }}
          search={{ version: number === current.version ? undefined : number }}
          activeOptions={EXACT}
          aria-current={isFiles ? 'page' : undefined}
        >
          Files
        </Link>
        <Link
          to="/skills/$skillId"
          params={{ skillId }}
          search={{ view: 'versions' }}
          activeOptions={EXACT}
          aria-current={view === 'versions' && !comparesTwo ? 'page' : undefined}
        >
          Versions ({versions.length})
        </Link>
        {(before !== undefined || comparesTwo) && (
          <Link
            to="/skills/$skillId"
            params={{ skillId }}
            search={comparesTwo ? { from, to } : { from: before, to: number }}
            activeOptions={EXACT}
            aria-current={comparesTwo ? 'page' : undefined}
          >
            Changes
          </Link>
        )}
      </nav>
      {isFiles && number !== current.version && (
        <div className={styles.old}>
          <p>
            This is version {number}. Agents get{' '}
            <Link to="/skills/$skillId" params={{ skillId }}>
              version {current.version}
            </Link>
            .
          </p>
          {canWrite && shown && (
            <button type="button" disabled={publication.isPending} onClick={() => publication.mutate(number)}>
              Publish this version
            </button>
          )}
        </div>
      )}
      {comparesTwo ? (
        <Comparison skillId={skillId} versions={versions} from={from} to={to} />
      ) : view === 'versions' ? (
        <Versions
          skillId={skillId}
          versions={versions}
          onPublish={canWrite ? (version) => publication.mutate(version) : undefined}
        />
      ) : (
        <SkillFiles skillId={skillId} version={number} isCurrent={number === current.version} />
      )}
    </Page>
  )
}

/** Makes an earlier version the current one, unless somebody has changed the skill meanwhile. */
function usePublication(skillId: string, current: number, etag: string | null) {
  return useMutation({
    mutationFn: (version: number) => publish(skillId, version, etag),
    onError: showError,
    onSuccess: (_result, version) => {
      const undo = async () => {
        const now = await readCurrent(skillId)
        // Only what this page did is undone.
        if (now.version.version !== version) throw new Error('Somebody has changed the skill since then.')
        await publish(skillId, current, now.etag)
        showMessage(`Version ${current} is the current one again.`)
      }
      showMessage(`Version ${version} is the current one now.`, false, {
        label: 'Undo',
        onSelect: () => void undo().catch(showError),
      })
    },
  })
}

/** The changes of the version that was made at a time; an event does not say which one it was. */
function placeOfChange(skillId: string, versions: readonly VersionSummary[], at: string) {
  const made = versions.find(({ createdAt }) => createdAt <= at)?.version
  const before = made === undefined ? undefined : versionBefore(versions, made)
  const search = before === undefined ? { version: made } : { from: before, to: made }
  return { to: '/skills/$skillId', params: { skillId }, search } as const
}

function Deletion({ skillId, name }: { readonly skillId: string; readonly name: string }) {
  const navigate = Route.useNavigate()
  const showDeleted = useShowDeleted()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[{ label: 'Delete', isDangerous: true, onSelect: () => setIsAsking(true) }]}
      />
      {isAsking && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          act={async () => {
            await remove(skillId)
            await navigate({ to: '/skills' })
            void showDeleted(name, { resourceType: 'skill', resourceId: skillId })
            await refreshSkills()
          }}
          onClose={() => setIsAsking(false)}
        >
          Agents get it no more. For some days, the page Deleted can restore it with its versions.
        </Confirm>
      )}
    </>
  )
}

interface ComparisonProps {
  readonly skillId: string
  readonly versions: readonly VersionSummary[]
  readonly from: number
  readonly to: number
}

function Comparison({ skillId, versions, from, to }: ComparisonProps) {
  const navigate = Route.useNavigate()
  const before = useQuery(versionQuery(skillId, from))
  const after = useQuery(versionQuery(skillId, to))
  const error = before.error ?? after.error
  const choose = (chosen: { from: number; to: number }) => void navigate({ search: chosen, replace: true })
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms. */}
      <div role="group" aria-label="Versions to compare" className={styles.compare}>
        <VersionChoice
          label="From"
          versions={versions}
          value={from}
          onChange={(value) => choose({ from: value, to })}
        />
        <span>to</span>
        <VersionChoice label="To" versions={versions} value={to} onChange={(value) => choose({ from, to: value })} />
        <button type="button" onClick={() => choose({ from: to, to: from })}>
          Swap
        </button>
      </div>
      {error ? (
        <ErrorNote error={error} retry={() => void Promise.all([before.refetch(), after.refetch()])} />
      ) : before.data && after.data ? (
        <FileChanges key={`${from}-${to}`} changes={changesOf(before.data.files, after.data.files)} />
      ) : (
        <Skeleton />
      )}
    </>
  )
}

interface VersionChoiceProps {
  readonly label: string
  readonly versions: readonly VersionSummary[]
  readonly value: number
  readonly onChange: (version: number) => void
}

const MAX_MESSAGE = 60

function VersionChoice({ label, versions, value, onChange }: VersionChoiceProps) {
  const isKept = versions.some(({ version }) => version === value)
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(Number(target.value))}>
      {!isKept && <option value={value}>Version {value}</option>}
      {versions.map(({ version, message }) => (
        <option key={version} value={version}>
          Version {version}
          {message !== null && ` · ${message.slice(0, MAX_MESSAGE)}`}
        </option>
      ))}
    </select>
  )
}
