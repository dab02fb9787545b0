/** The environment variables of a project: their names, and who has set and leased them. Never a value. */

import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { refresh, useCan, useMe, workspace } from '../api.ts'
import { Command, shellWord } from '../components/command.tsx'
import { Confirm } from '../components/confirm.tsx'
import { Choice, Filters, SearchField, withChosen } from '../components/filters.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time } from '../components/time.tsx'
import { Who } from '../components/who.tsx'
import { hasDraft } from '../drafts.ts'
import { useGrowing } from '../lists.ts'
import { showMessage } from '../messages.ts'
import { useName, useNames } from '../names.ts'
import { resourcesQuery } from '../people/data.ts'
import { type Lease, type Past, pastQuery, type Variable, variablesQuery } from './data.ts'
import { draftOfVariable, SetVariable } from './set-variable.tsx'
import styles from './variables.module.css'

export const Route = createLazyRoute('/app/variables')({ component: Variables })

function Variables() {
  const { project } = Route.useSearch()
  const names = useNames('projects')
  const { projectIds } = useMe().apiKey
  // With one project, there is nothing to choose.
  const ids = projectIds ?? Array.from(names.keys())
  const projectId = project ?? (ids.length === 1 ? ids[0] : undefined)
  return projectId === undefined ? <ChooseProject /> : <OfProject key={projectId} projectId={projectId} />
}

function useSearch() {
  const navigate = Route.useNavigate()
  return useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
}

function ChooseProject() {
  const canRead = useCan()('projects:read')
  return (
    <Page title="Variables" details={<p className="quiet">Each project has environment variables of its own.</p>}>
      {canRead ? (
        <Projects />
      ) : (
        <p className="quiet">
          This session may not list projects. Add “?project=” and the ID of a project to the address.
        </p>
      )}
    </Page>
  )
}

const PROJECT_COLUMNS = [
  { name: 'Project', width: 'minmax(0, 1fr)' },
  { name: 'ID', width: 'minmax(0, 1fr)' },
]

function Projects() {
  const { q } = Route.useSearch()
  const search = useSearch()
  const list = useGrowing(resourcesQuery('projects', q))
  const projects = list.items
  return (
    <>
      <Filters>
        <SearchField label="Search projects by name" value={q} onChange={search} />
      </Filters>
      {list.isPending ? (
        <Skeleton />
      ) : list.error ? (
        <ErrorNote error={list.error} retry={list.retry} />
      ) : projects.length === 0 ? (
        <Empty title={q === undefined ? 'No projects yet' : 'No project matches'}>
          {q === undefined ? (
            'Environment variables belong to a project.'
          ) : (
            <Link to="/variables">Show all projects</Link>
          )}
        </Empty>
      ) : (
        <Table columns={PROJECT_COLUMNS}>
          {projects.map(({ id, name }) => (
            <Row key={id}>
              <Cell>
                <Link className="row-link" to="/variables" search={{ project: id }}>
                  <bdi>{name}</bdi>
                </Link>
              </Cell>
              <Cell className="quiet anywhere">{id}</Cell>
            </Row>
          ))}
        </Table>
      )}
      <ShowMore list={list} />
    </>
  )
}

/** A variable to set; without a name, a new one. */
interface Setting {
  readonly name?: string
}

function OfProject({ projectId }: { readonly projectId: string }) {
  const can = useCan()
  const canWrite = can('environment-variables:write')
  const [setting, setSetting] = useState<Setting | undefined>(() =>
    hasDraft(draftOfVariable(projectId)) ? {} : undefined,
  )
  return (
    <Page
      title="Variables"
      details={<p className="quiet">Values are stored encrypted, and never shown.</p>}
      actions={
        canWrite && (
          <button type="button" data-kind="primary" onClick={() => setSetting({})}>
            New variable
          </button>
        )
      }
    >
      {can('environment-variables:read') ? (
        <List projectId={projectId} onSet={canWrite ? (name) => setSetting({ name }) : undefined} />
      ) : (
        <p className="quiet">This session may not read the names of environment variables.</p>
      )}
      <Reading projectId={projectId} />
      {setting && <SetVariable projectId={projectId} given={setting.name} onClose={() => setSetting(undefined)} />}
    </Page>
  )
}

interface ListProps {
  readonly projectId: string
  /** Undefined: the session may only read. */
  readonly onSet: ((name: string) => void) | undefined
}

function List({ projectId, onSet }: ListProps) {
  const { q } = Route.useSearch()
  const navigate = Route.useNavigate()
  const search = useSearch()
  const names = useNames('projects')
  const { projectIds } = useMe().apiKey
  const projects = projectIds
    ? projectIds.map((id) => [id, names.get(id) ?? id] as const)
    : withChosen(names, projectId)
  const { data, error, refetch } = useQuery(variablesQuery(projectId))
  const shown = data?.filter(({ key }) => key.toLowerCase().includes(q?.toLowerCase() ?? ''))
  return (
    <>
      <Filters>
        <SearchField label="Search by name" value={q} onChange={search} />
        <Choice
          label="Project"
          all="All projects"
          value={projectId}
          options={projects}
          onChange={(chosen) => void navigate({ search: { project: chosen } })}
        />
      </Filters>
      {!data || !shown ? (
        error ? (
          <ErrorNote error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton />
        )
      ) : data.length === 0 ? (
        <Empty title="No variables yet">
          A variable is a setting or a secret that agents need in this project, such as the address of a database.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No variable matches">
          <Link to="/variables" search={{ project: projectId }}>
            Show all variables
          </Link>
        </Empty>
      ) : (
        <VariableTable projectId={projectId} all={data} shown={shown} onSet={onSet} />
      )}
    </>
  )
}

interface VariableTableProps extends ListProps {
  readonly all: readonly Variable[]
  readonly shown: readonly Variable[]
}

function VariableTable({ projectId, all, shown, onSet }: VariableTableProps) {
  const can = useCan()
  const isRestricted = useMe().apiKey.projectIds !== null
  const knowsPast = can('audit-events:read') && !isRestricted
  const { data: pasts, error } = useQuery({ ...pastQuery(projectId, all), enabled: knowsPast })
  const [deleted, setDeleted] = useState<Variable>()
  return (
    <>
      {error && <ErrorNote error={error} />}
      <Table
        columns={[
          { name: 'Name', width: 'minmax(0, 1fr)' },
          { name: 'Set', width: 'minmax(0, 1fr)', isWideOnly: true },
          knowsPast && { name: 'Last leased', width: 'minmax(0, 1fr)', isWideOnly: true },
          onSet !== undefined && { name: 'Actions', width: '48px', isUnlabelled: true },
        ]}
        rowHeight={40}
      >
        {shown.map((variable) => (
          <VariableRow
            key={variable.key}
            projectId={projectId}
            variable={variable}
            past={pasts?.get(variable.key)}
            knowsPast={knowsPast}
            onSet={onSet}
            onDelete={() => setDeleted(variable)}
          />
        ))}
      </Table>
      {deleted && (
        <Confirm
          title={`Delete ${deleted.key}?`}
          verb="Delete"
          act={async () => {
            await workspace.projects.environmentVariables.delete(projectId, deleted.key)
            showMessage(`${deleted.key} deleted.`)
            void refresh('variables')
          }}
          onClose={() => setDeleted(undefined)}
        >
          <p>
            Later leases do not have <code className="anywhere">{deleted.key}</code>, and those that name it are
            refused. This cannot be undone: the value is gone.
          </p>
        </Confirm>
      )}
    </>
  )
}

interface VariableRowProps extends ListProps {
  readonly variable: Variable
  /** Undefined while it loads. */
  readonly past: Past | undefined
  readonly knowsPast: boolean
  readonly onDelete: () => void
}

function VariableRow({ projectId, variable: { key, updatedAt }, past, knowsPast, onSet, onDelete }: VariableRowProps) {
  const set = (
    <>
      <Time at={updatedAt} />
      <Who actor={past?.set?.actor} />
    </>
  )
  return (
    <Row>
      <Cell className="anywhere">
        {knowsPast ? (
          <Link
            className="row-link"
            to="/activity"
            search={{ types: 'environment-variable.*,environment-variables.*', project: projectId }}
            title="Who has set and leased variables"
          >
            <code>{key}</code>
          </Link>
        ) : (
          <code>{key}</code>
        )}
        <div className={`quiet small ${styles.narrow}`}>set {set}</div>
        {knowsPast && (
          <div className={`quiet small ${styles.narrow}`}>
            {past?.leased && 'leased: '}
            <Leased past={past} />
          </div>
        )}
      </Cell>
      <Cell className="wide-only">{set}</Cell>
      {knowsPast && (
        <Cell className="wide-only">
          <Leased past={past} />
        </Cell>
      )}
      {onSet && (
        <Cell className={styles.actions}>
          <Menu
            label={`Actions for ${key}`}
            items={[
              { label: 'Set a new value', onSelect: () => onSet(key) },
              { label: 'Delete', isDangerous: true, onSelect: onDelete },
            ]}
          />
        </Cell>
      )}
    </Row>
  )
}

function Leased({ past }: { readonly past: Past | undefined }) {
  if (past === undefined) return null
  return past.leased ? <LeasedBy lease={past.leased} /> : <span className="quiet">no lease known</span>
}

function LeasedBy({ lease: { event, isCertain } }: { readonly lease: Lease }) {
  return (
    <>
      {!isCertain && <span title="The event names only the first of many variables.">perhaps </span>}
      <Time at={event.createdAt} />
      <Who actor={event.actor} />
      {event.actor?.userId != null && <span className="quiet"> with {event.actor.apiKeyName}</span>}
    </>
  )
}

/** How an agent gets the values. */
function Reading({ projectId }: { readonly projectId: string }) {
  const can = useCan()
  const name = useName('projects', projectId) ?? projectId
  const word = shellWord(projectId)
  const canCreate = can('api-keys:write') && can('environment-variables:lease')
  return (
    <section className={styles.section} aria-labelledby="reading">
      <h2 id="reading">How an agent reads them</h2>
      <p className="quiet">
        It leases them: the values of <bdi>{name}</bdi> come encrypted to a key that only its process has. Each lease is
        an event with the names of the variables.
      </p>
      <ol className={styles.steps}>
        <li>
          <p>
            Create an API key that is restricted to the project and may do nothing else
            {canCreate && (
              <>
                , here under <Link to="/keys">Keys</Link> or
              </>
            )}
            :
          </p>
          <Command what="create an API key">
            {`workspace keys create sandbox --scope environment-variables:lease --project ${word}`}
          </Command>
        </li>
        <li>
          <p>With this key, start a program. It has the variables in its environment, and they are written nowhere:</p>
          <Command what="start a program with the variables">{`workspace env run --project ${word} -- npm start`}</Command>
        </li>
      </ol>
    </section>
  )
}
