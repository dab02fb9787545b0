/** What was deleted and can be restored: undo, or delete for good, many at once. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { memo, useCallback, useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { forEach } from '../bulk.ts'
import { Confirm } from '../components/confirm.tsx'
import { Choice, Filters, SearchField, withChosen } from '../components/filters.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { SelectCell, Selected, selectColumn, useSelection } from '../components/selection.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time } from '../components/time.tsx'
import { type Actor, Who } from '../components/who.tsx'
import { messageOf } from '../errors.ts'
import { useGrowing } from '../lists.ts'
import { showMessage } from '../messages.ts'
import { useName, useNames } from '../names.ts'
import { shortId } from '../short-id.ts'
import { visible } from '../visible.ts'
import { actorsQuery, type Deletion, deletionsQuery, keyOf, purge, restore, staleBy } from './data.ts'
import styles from './deleted.module.css'
import { DELETED_KINDS } from './kinds.ts'

export const Route = createLazyRoute('/app/deleted')({ component: Deleted })

const wordOf = (kind: Deletion['resourceType']) => {
  const word = kind === 'user' ? 'person' : kind.replace('_', ' ')
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`
}
const KINDS = DELETED_KINDS.map((kind) => [kind, wordOf(kind)] as const)

const nameOf = ({ name, resourceType, resourceId }: Deletion) =>
  name === null ? `${wordOf(resourceType)} ${shortId(resourceId)}` : visible(name)

function Deleted() {
  const can = useCan()
  const { projectIds } = useMe().apiKey
  const isAllowed = can('deletions:read') && projectIds?.length !== 0
  return (
    <Page title="Deleted" details={<p className="quiet">What is not restored in time is deleted for good.</p>}>
      {isAllowed ? <Deletions /> : <p className="quiet">This session may not read deletions.</p>}
    </Page>
  )
}

function Deletions() {
  const { q, kind, project } = Route.useSearch()
  const navigate = Route.useNavigate()
  const names = useNames('projects')
  const { projectIds } = useMe().apiKey
  // A session that is restricted to projects has to name one of them.
  const projectId = project ?? projectIds?.[0]
  const projects = projectIds
    ? projectIds.map((id) => [id, names.get(id) ?? id] as const)
    : withChosen(names, projectId)
  const isSearching = q !== undefined
  // The service does not search deletions.
  const list = useGrowing(deletionsQuery({ resourceType: kind, projectId }), isSearching)
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const shown = isSearching ? list.items.filter((deletion) => contains(nameOf(deletion), q)) : list.items
  const isFiltered = isSearching || kind !== undefined || project !== undefined
  return (
    <>
      <Filters>
        <SearchField label="Search by name" value={q} onChange={search} />
        <Choice
          label="Kind"
          all="Everything"
          value={kind}
          options={KINDS}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, kind: chosen }) })}
        />
        <Choice
          label="Project"
          all={projectIds ? 'Choose a project' : 'All projects'}
          value={projectId}
          options={projects}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, project: chosen }) })}
        />
      </Filters>
      {list.isPending ? (
        <Skeleton />
      ) : list.error ? (
        <ErrorNote error={list.error} retry={list.retry} />
      ) : shown.length > 0 ? (
        <List deletions={shown} />
      ) : isFiltered ? (
        <Empty title="Nothing that was deleted matches">
          <Link to="/deleted">Show everything that can be restored</Link>
        </Empty>
      ) : (
        <Empty title="Nothing can be restored">
          Deleted projects, agents, people, sessions, pull requests, schedules and skills are listed here for some days.
        </Empty>
      )}
      <ShowMore list={list} />
    </>
  )
}

const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase())

/** Restores them, and says how many and why not the others. */
function useRestore() {
  return useMutation({
    mutationFn: (deletions: readonly Deletion[]) => forEach(deletions, restore, ...staleBy(deletions)),
    onSuccess: (failed, deletions) => {
      show(deletions, failed, 'restored')
      // The button that had the focus is gone with its row.
      if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true })
    },
  })
}

function show(deletions: readonly Deletion[], failed: readonly (readonly [Deletion, Error])[], done: string): void {
  const count = deletions.length - failed.length
  const [first] = deletions
  if (count > 0) showMessage(`${deletions.length === 1 && first ? nameOf(first) : count} ${done}.`)
  for (const [deletion, error] of failed) showMessage(`${nameOf(deletion)}: ${messageOf(error)}`, true)
}

function List({ deletions }: { readonly deletions: readonly Deletion[] }) {
  const can = useCan()
  const [canRestore, canPurge] = [can('deletions:write'), can('deletions:purge')]
  const isRestricted = useMe().apiKey.projectIds !== null
  const selection = useSelection(deletions)
  const undo = useRestore()
  const [purged, setPurged] = useState<readonly Deletion[]>([])
  const { data: actors } = useQuery({
    ...actorsQuery(deletions.at(-1)?.deletedAt ?? ''),
    enabled: can('audit-events:read') && !isRestricted,
  })
  const canAct = canRestore || canPurge
  const { mutate } = undo
  const undoOne = useCallback((deletion: Deletion) => mutate([deletion]), [mutate])
  const purgeOne = useCallback((deletion: Deletion) => setPurged([deletion]), [])
  return (
    <>
      {canAct && (
        <Selected label="Selected deletions" selection={selection}>
          {canRestore && (
            <button type="button" disabled={undo.isPending} onClick={() => undo.mutate(selection.selected)}>
              Undo
            </button>
          )}
          {canPurge && (
            <button type="button" data-kind="danger" onClick={() => setPurged(selection.selected)}>
              Delete for good
            </button>
          )}
        </Selected>
      )}
      <Table
        columns={[
          canAct && selectColumn(selection),
          { name: 'Name', width: 'minmax(0, 2fr)' },
          { name: 'Deleted', width: 'minmax(0, 1fr)', isWideOnly: true },
          { name: 'For good', width: '112px', isWideOnly: true },
          canAct && {
            name: 'Actions',
            width: canRestore && canPurge ? '120px' : canRestore ? '80px' : '48px',
            isUnlabelled: true,
          },
        ]}
        rowHeight={58}
      >
        {deletions.map((deletion) => (
          <DeletionRow
            key={deletion.id}
            deletion={deletion}
            actor={actors?.get(keyOf(deletion))}
            isSelected={selection.has(deletion)}
            onToggle={canAct ? selection.toggle : undefined}
            onUndo={canRestore ? undoOne : undefined}
            onPurge={canPurge ? purgeOne : undefined}
            isPending={undo.isPending}
          />
        ))}
      </Table>
      {purged.length > 0 && <Purge deletions={purged} onClose={() => setPurged([])} />}
    </>
  )
}

interface DeletionRowProps {
  readonly deletion: Deletion
  readonly actor: Actor
  readonly isSelected: boolean
  /** Undefined: the session may only read. */
  readonly onToggle: ((deletion: Deletion) => void) | undefined
  readonly onUndo: ((deletion: Deletion) => void) | undefined
  readonly onPurge: ((deletion: Deletion) => void) | undefined
  readonly isPending: boolean
}

const DeletionRow = memo((props: DeletionRowProps) => {
  const { deletion, actor, isSelected, onToggle, onUndo, onPurge, isPending } = props
  const { resourceType, projectId, agentId, deletedAt, finalAt } = deletion
  const project = useName('projects', resourceType === 'project' ? null : projectId)
  const agent = useName('agents', agentId)
  const name = nameOf(deletion)
  const parent =
    resourceType === 'project' ? undefined : projectId !== null ? (project ?? projectId) : agentId && (agent ?? agentId)
  const deleted = (
    <>
      <Time at={deletedAt} />
      <Who actor={actor} />
    </>
  )
  return (
    <Row isSelected={isSelected}>
      {onToggle && <SelectCell isSelected={isSelected} onToggle={() => onToggle(deletion)} name={name} />}
      <Cell className="anywhere">
        <bdi className={styles.name}>{name}</bdi>
        <div className="quiet small">
          {wordOf(resourceType)}
          {parent && <> · {parent}</>}
        </div>
        <div className={`quiet small ${styles.narrow}`}>
          deleted {deleted}, for good <Time at={finalAt} />
        </div>
      </Cell>
      <Cell className="wide-only">{deleted}</Cell>
      <Cell className="wide-only">
        <Time at={finalAt} />
      </Cell>
      {onToggle && (
        <Cell className={styles.actions}>
          {onUndo && (
            <button
              type="button"
              aria-label={`Undo the deletion of ${name}`}
              disabled={isPending}
              onClick={() => onUndo(deletion)}
            >
              Undo
            </button>
          )}
          {onPurge && (
            <Menu
              label={`Actions for ${name}`}
              items={[{ label: 'Delete for good', isDangerous: true, onSelect: () => onPurge(deletion) }]}
            />
          )}
        </Cell>
      )}
    </Row>
  )
})

function Purge({ deletions, onClose }: { readonly deletions: readonly Deletion[]; readonly onClose: () => void }) {
  const [first] = deletions
  if (!first) return null
  const isOne = deletions.length === 1
  return (
    <Confirm
      title={`Delete ${isOne ? nameOf(first) : deletions.length} for good?`}
      verb="Delete for good"
      act={async () => {
        const failed = await forEach(deletions, purge, 'deletions')
        // The dialog says why one was refused.
        if (isOne && failed[0]) throw failed[0][1]
        show(deletions, failed, 'deleted for good')
      }}
      onClose={onClose}
    >
      <p>
        {isOne ? 'It' : 'They'} cannot be restored afterwards, nor what belonged to {isOne ? 'it' : 'them'}.
      </p>
      {!isOne && (
        <ul className={styles.names}>
          {deletions.map((deletion) => (
            <li key={deletion.id} className="anywhere">
              <bdi>{nameOf(deletion)}</bdi> <span className="quiet">{wordOf(deletion.resourceType)}</span>
            </li>
          ))}
        </ul>
      )}
    </Confirm>
  )
}
