/** What happened, the latest first. */
import { createLazyRoute, Link, useRouter } from '@tanstack/react-router'
import { ListFilter, X } from 'lucide-react'
import { memo, useEffect, useId, useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Choice, Filters, withChosen } from '../components/filters.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { ShowMore } from '../components/table.tsx'
import { useNow } from '../components/time.tsx'
import type { Event } from '../events.ts'
import { useGrowing } from '../lists.ts'
import { useName, useNames } from '../names.ts'
import { DAY_MS, toClock, toExact } from '../time.ts'
import styles from './activity.module.css'
import { eventsQuery, MAX_KEPT, timesOf } from './data.ts'
import { addressOf, nameOf, predicateOf, RESOURCES, typesOf } from './words.ts'

export const Route = createLazyRoute('/app/activity')({ component: Activity })

function Activity() {
  const isAllowed = useCan()('audit-events:read')
  return (
    <Page title="Activity">{isAllowed ? <Events /> : <p className="quiet">This session may not read events.</p>}</Page>
  )
}

/** The most events that a window shows. */
const ALWAYS_DRAWN = 50

function Events() {
  const { types, resource, user, project, day: given } = Route.useSearch()
  const isRestricted = useMe().apiKey.projectIds !== null
  // The feed, which a restricted session reads, knows no times.
  const onlyDay = isRestricted ? undefined : given
  const filters = { types, resource, userId: user, projectId: project, ...(onlyDay && timesOf(onlyDay)) }
  const list = useGrowing(eventsQuery(filters, isRestricted))
  const events = list.items
  const isFiltered = [types, resource, user, project, onlyDay].some((filter) => filter !== undefined)
  const days = Map.groupBy(events, ({ createdAt }) => toDay(new Date(createdAt)))
  const last = new Set(events.slice(-ALWAYS_DRAWN))
  return (
    <>
      <EventFilters events={events} isFiltered={isFiltered} />
      {list.isPending ? (
        <Skeleton rows={12} />
      ) : list.error ? (
        <ErrorNote error={list.error} retry={list.retry} />
      ) : events.length === 0 ? (
        <Empty title={isFiltered ? 'No event matches' : 'Nothing has happened yet'}>
          {!isFiltered ? (
            'Each change in the organization is listed here.'
          ) : list.hasMore ? (
            'None of the latest events does. “Show more” looks further back.'
          ) : (
            <Link to="/activity">Show all events</Link>
          )}
        </Empty>
      ) : (
        Array.from(days, ([day, ofDay]) => <Day key={day} day={day} events={ofDay} last={last} />)
      )}
      <ShowMore list={list} />
      {isRestricted && events.length === MAX_KEPT && (
        <p className="quiet">A session that is restricted to projects lists the latest {MAX_KEPT} events.</p>
      )}
    </>
  )
}

interface EventFiltersProps {
  readonly events: readonly Event[]
  readonly isFiltered: boolean
}

function EventFilters({ events, isFiltered }: EventFiltersProps) {
  const { types, resource, user, project, day } = Route.useSearch()
  const isRestricted = useMe().apiKey.projectIds !== null
  const navigate = Route.useNavigate()
  const users = useNames('users')
  const projects = useNames('projects')
  const kind = RESOURCES.find(([name]) => types?.startsWith(`${name}.`) && !types.includes(','))?.[0]
  const verbs = kind === undefined ? [] : typesOf(kind)
  // The address may name several types, which no choice does.
  const others = types !== undefined && kind === undefined ? ([[types, types]] as const) : []
  const about = events.find((event) => keyOf(event) === resource)
  return (
    <Filters>
      <Choice
        label="Person"
        all="Everybody"
        value={user}
        options={withChosen(users, user)}
        onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, user: chosen }) })}
      />
      <Choice
        label="Kind"
        all="Everything"
        value={kind ?? types}
        options={[...RESOURCES, ...others]}
        onChange={(chosen) =>
          void navigate({ search: (previous) => ({ ...previous, types: chosen && `${chosen}.*` }) })
        }
      />
      {kind !== undefined && verbs.length > 1 && (
        <Choice
          label="Change"
          all="Any change"
          value={types}
          options={verbs}
          onChange={(chosen) =>
            void navigate({ search: (previous) => ({ ...previous, types: chosen ?? `${kind}.*` }) })
          }
        />
      )}
      <Choice
        label="Project"
        all="All projects"
        value={project}
        options={withChosen(projects, project)}
        onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, project: chosen }) })}
      />
      {!isRestricted && (
        <DayField
          value={day}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, day: chosen }), replace: true })}
        />
      )}
      {resource !== undefined && (
        <Link
          className="button"
          to="/activity"
          search={(previous) => ({ ...previous, resource: undefined })}
          aria-label={`Only ${about ? nameOf(about, users) : resource}: show the events of everything`}
        >
          Only <bdi className={styles.about}>{about ? nameOf(about, users) : resource}</bdi>
          <X size={16} aria-hidden="true" />
        </Link>
      )}
      {isFiltered && (
        <Link className="button" to="/activity">
          Show all
        </Link>
      )}
    </Filters>
  )
}

interface DayFieldProps {
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

/** Years before are typed on the way to a later one: the "20" of "2026" is a year, too. */
const FIRST_DAY = '2000-01-01'

function DayField({ value = '', onChange }: DayFieldProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <input
      type="date"
      aria-label="Day"
      title="Only events of a day"
      value={typed}
      onChange={({ target }) => {
        setTyped(target.value)
        if (target.value === '' || target.value >= FIRST_DAY) onChange(target.value || undefined)
      }}
    />
  )
}

const keyOf = ({ resource: { type, id } }: Event) => `${type}/${id}`

interface DayProps {
  readonly day: string
  readonly events: readonly Event[]
  /** The last events of the list. */
  readonly last: ReadonlySet<Event>
}

function Day({ day, events, last }: DayProps) {
  const id = useId()
  const now = useNow()
  const isToday = day === toDay(now)
  const isYesterday = day === toDay(new Date(now.getTime() - DAY_MS))
  return (
    <section className={styles.day} aria-labelledby={id}>
      <h2 id={id}>{isToday ? 'Today' : isYesterday ? 'Yesterday' : day}</h2>
      <ol>
        {events.map((event) => (
          <EventLine key={event.id} event={event} isLast={last.has(event)} />
        ))}
      </ol>
    </section>
  )
}

const dayFormat = new Intl.DateTimeFormat(undefined, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
})
const toDay = (at: Date) => dayFormat.format(at)

interface EventLineProps {
  readonly event: Event
  readonly isLast: boolean
}

const EventLine = memo(({ event, isLast }: EventLineProps) => {
  const users = useNames('users')
  const { resource: only } = Route.useSearch()
  const { actor, projectId, resource, createdAt } = event
  const project = useName('projects', projectId)
  const person = useName('users', actor?.userId)
  const [before, after] = predicateOf(event.type)
  const name = nameOf(event, users)
  return (
    <li className={styles.event} data-last={isLast || undefined}>
      <time className="quiet" dateTime={createdAt} title={toExact(new Date(createdAt))}>
        {toClock(new Date(createdAt))}
      </time>
      <p className="anywhere">
        <bdi className={styles.name}>{actor === null ? 'Workspace API' : (person ?? actor.apiKeyName)}</bdi> {before}
        {after !== undefined && (
          <>
            <About event={event} name={name} />
            {after}
          </>
        )}
        {projectId !== null && resource.type !== 'project' && (
          <>
            {' in '}
            <bdi>{project ?? projectId}</bdi>
          </>
        )}
      </p>
      {/* The session of a sign-in has the name of the person. */}
      {person !== undefined && person !== actor?.apiKeyName && (
        <span className={`quiet small wide-only ${styles.key}`}>with {actor?.apiKeyName}</span>
      )}
      {only !== keyOf(event) && (
        <Link
          className={styles.only}
          to="/activity"
          search={(previous) => ({ ...previous, resource: keyOf(event) })}
          aria-label={`Only events about ${name}`}
          title={`Only events about ${name}`}
        >
          <ListFilter size={16} aria-hidden="true" />
        </Link>
      )}
    </li>
  )
})

const NOT_FOUND = '$'

/** A link where there is a page of it. */
function About({ event, name }: { readonly event: Event; readonly name: string }) {
  const router = useRouter()
  const can = useCan()
  const found = addressOf(event)
  const address = found?.startsWith('/deleted') && !can('deletions:read') ? undefined : found
  const [path] = address?.split('?') ?? []
  const page = path === undefined ? undefined : router.getMatchedRoutes(path)[2]
  const content = <bdi>{name}</bdi>
  // The page of addresses without one matches all of them.
  if (address === undefined || page === undefined || page.path === NOT_FOUND) {
    return <span className={styles.name}>{content}</span>
  }
  return (
    <Link className={styles.name} to={address}>
      {content}
    </Link>
  )
}
