/**
 * The runs that a claim takes, the oldest first. The index of pending runs also has those of deleted schedules, until the
 * purge removes them: a claim examines the oldest of the index, and finds the runs behind them by their schedules.
 */
import { and, eq, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { projectIdOrNull } from '../../../access/project.ts'
import { rowLimit } from '../../../db/parameters.ts'
import { indexedBy, selectedAs } from '../../../db/rows.ts'
import { runs, schedules } from '../../../db/schema.ts'
import { hasParent, isScheduleOf, joinParents } from '../joins.ts'
import { isPending } from '../run-transitions.ts'

/** How many of the oldest pending runs a claim examines. */
export const MAX_EXAMINED_BY_CLAIM = 100

type Fields = Readonly<Record<string, SQLiteColumn | SQL.Aliased>>

const next = alias(runs, 'next')
const following = alias(schedules, 'following')
/** The condition of the index `runsToPull`. */
const waits = sql`${next.status} = 'pending' and ${next.checkAt} is null`
const waiting = sql`${runs} as ${next} indexed by "runsToPull"`

interface Schedules {
  /** The table by an index that has the schedules of the claim in order of ID. */
  readonly source: SQL
  readonly condition?: SQL | undefined
}
const ofOrganization: Schedules = { source: sql`${schedules} as ${following}` }
const ofProject: Schedules = {
  source: sql`${schedules} as ${following} indexed by "schedulesByParent"`,
  condition: and(sql`${following.parentType} = 'project'`, eq(following.parentId, projectIdOrNull)),
}

/**
 * The oldest runs that wait to be pulled, by their schedules. It leaps from a schedule that exists to the next one with
 * waiting runs, so it reads at most one row for each schedule that exists and none for a deleted one. Then it merges the
 * runs of these schedules, in order of ID.
 * @param after the runs before this ID are left out.
 */
function claimableBySchedule(fields: Fields, organizationId: SQLWrapper, after: SQL, { source, condition }: Schedules) {
  const ofRow = (name: string, column: string) => sql`${sql.identifier(name)}.${sql.identifier(column)}`
  const nextSchedule = sql`select ${following.id} from ${source}
      where ${following.organizationId} = ${ofRow('busy', 'organizationId')} and ${condition ?? sql`true`}
        and ${following.id} > ${ofRow('busy', 'scheduleId')} order by ${following.id} limit 1`
  const nextBusy = sql`select ${next.scheduleId} from ${waiting}
      where ${next.organizationId} = ${ofRow('busy', 'organizationId')} and ${waits} and ${next.scheduleId} >= (${nextSchedule})
      order by ${next.scheduleId} limit 1`
  /** Joins the first waiting run of the schedule after an ID. */
  const joinNext = (name: string, id: SQLWrapper) => sql`cross join ${runs}
    on ${runs.organizationId} = ${ofRow(name, 'organizationId')} and ${runs.id} = (
      select ${next.id} from ${waiting} where ${next.organizationId} = ${ofRow(name, 'organizationId')}
        and ${next.scheduleId} = ${ofRow(name, 'scheduleId')} and ${waits} and ${next.id} > ${id} order by ${next.id} limit 1)`
  const isScheduleOfRow = and(
    eq(schedules.organizationId, ofRow('busy', 'organizationId')),
    eq(schedules.id, ofRow('busy', 'scheduleId')),
  )
  const isOfClaim = condition && and(eq(schedules.parentType, sql`'project'`), eq(schedules.parentId, projectIdOrNull))
  const key = sql`${runs.organizationId}, ${runs.scheduleId}, ${runs.id}`
  return sql`with recursive "start"("organizationId", "after") as (select ${organizationId}, ${after}),
    "busy"("organizationId", "scheduleId") as (
      select "organizationId", '' from "start" where "after" is not null
      union all select ${ofRow('busy', 'organizationId')}, (${nextBusy}) from "busy" where ${ofRow('busy', 'scheduleId')} is not null
    ),
    "oldest"("organizationId", "scheduleId", "id") as (
      select ${key} from "start" cross join "busy" cross join ${schedules} on ${isScheduleOfRow} ${joinParents(schedules)}
        ${joinNext('busy', ofRow('start', 'after'))} where ${and(hasParent, isOfClaim)}
      union all select ${key} from "oldest" ${joinNext('oldest', ofRow('oldest', 'id'))}
      order by 3 limit ${rowLimit}
    )
    select ${selectedAs(fields)} from "oldest"
    cross join ${runs} on ${runs.organizationId} = ${ofRow('oldest', 'organizationId')} and ${runs.id} = ${ofRow('oldest', 'id')}
    cross join ${schedules} on ${isScheduleOf(runs)} ${joinParents(runs)}`
}

/** @param organizationId the caller's, if the guard holds. */
export function claimableOfProject(fields: Fields, organizationId: SQLWrapper): SQL {
  return sql`(${claimableBySchedule(fields, organizationId, sql`''`, ofProject)})`
}

/** @param organizationId the caller's, if the guard holds. */
export function claimableOfAll(fields: Fields, organizationId: SQLWrapper): SQL {
  const pending = sql`${indexedBy(runs, 'runsPending')} where ${runs.organizationId} = ${organizationId} and ${isPending}
    order by ${runs.id}`
  const lastExamined = sql`(select ${runs.id} from ${pending} limit 1 offset ${sql.raw(String(MAX_EXAMINED_BY_CLAIM - 1))})`
  const examined = sql`select ${selectedAs(fields)}
    from (select * from ${pending} limit ${sql.raw(String(MAX_EXAMINED_BY_CLAIM))}) as ${runs}
    cross join ${schedules} on ${isScheduleOf(runs)} ${joinParents(runs)}
    where ${and(isNull(runs.checkAt), hasParent)}`
  // SQLite reads the second part only if the first has fewer runs than the claim may take.
  return sql`(select * from (${examined} union all select * from (${claimableBySchedule(fields, organizationId, lastExamined, ofOrganization)}))
    limit ${rowLimit})`
}
