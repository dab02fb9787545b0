/** What the floors have in common: their bindings, the requests and rows, and raw SQL. */

export interface Environment {
  readonly DB: D1Database
  /** Whose data it is: the floors ask nobody for a key. */
  readonly ORGANIZATION_ID: string
  readonly USER_ID: string
}

export interface PinPlacement {
  readonly placement: {
    readonly target: { readonly type: string; readonly id: string }
    readonly position: 'before' | 'after'
  }
}

export interface NewSchedule {
  readonly cron: string
  readonly timezone?: string
}

/** The content of a skill's file, as responses show it. */
export const SHOWN_CONTENT = `CASE file.value ->> 'encoding'
  WHEN 'base64' THEN 'data:application/octet-stream;base64,' ELSE '' END || content`

const GAP = 2 ** 30

/** Positions of the target, of its neighbour on the side asked for, and of the pin itself. */
export const SELECT_PLACEMENT = `
  SELECT target.position AS target,
    (SELECT ?7 * min(?7 * position) FROM pins
     WHERE organizationId = ?1 AND userId = ?2 AND ?7 * position > ?7 * target.position
       AND NOT (resourceType = ?3 AND resourceId = ?4)) AS neighbour,
    (SELECT position FROM pins
     WHERE organizationId = ?1 AND userId = ?2 AND resourceType = ?3 AND resourceId = ?4) AS own
  FROM pins AS target
  WHERE organizationId = ?1 AND userId = ?2 AND resourceType = ?5 AND resourceId = ?6`

const IS_MOVE = '(own IS NULL OR ?7 * own < ?7 * target OR ?7 * own > ?7 * neighbour)'

/** Spreads the pins evenly again if the gap is full. */
export const RENUMBER_PINS = `
  UPDATE pins SET position = ranked.rank * ${GAP}
  FROM (SELECT resourceType, resourceId, row_number() OVER (ORDER BY position) AS rank FROM pins
        WHERE organizationId = ?1 AND userId = ?2) AS ranked
  WHERE organizationId = ?1 AND userId = ?2
    AND pins.resourceType = ranked.resourceType AND pins.resourceId = ranked.resourceId
    AND EXISTS (SELECT 1 FROM (${SELECT_PLACEMENT}) WHERE ${IS_MOVE} AND abs(neighbour - target) < 2)`

/** A row comes back if the order changed. */
export const PLACE_PIN = `
  INSERT INTO pins (organizationId, userId, resourceType, resourceId, position, createdAt)
  SELECT ?1, ?2, ?3, ?4, coalesce((target + neighbour) / 2, target + ?7 * ${GAP}), ?8
  FROM (${SELECT_PLACEMENT}) WHERE ${IS_MOVE}
  ON CONFLICT DO UPDATE SET position = excluded.position
  RETURNING resourceId`

export const INSERT_SCHEDULE = `
  INSERT INTO schedules
    (organizationId, parentType, parentId, id, cron, timezone, enabledAt, nextRunAt, createdAt, updatedAt)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7, ?7)`

/** What an answer has of a schedule, under the names of the wire. */
export const SCHEDULE_COLUMNS = {
  projects: 'id, parentId AS projectId, cron, timezone, enabledAt, lastRunAt, nextRunAt, createdAt, updatedAt',
  agents: 'id, parentId AS agentId, cron, enabledAt, lastRunAt, nextRunAt, createdAt, updatedAt',
} as const

export interface Schedule {
  readonly id: string
}

export const SELECT_FILES = `
  SELECT id, sessionId, path, createdAt, updatedAt FROM sessionFiles
  WHERE organizationId = ?1 AND sessionId = ?2 AND id > ?3 ORDER BY id LIMIT ?4`

export interface SessionFile {
  readonly id: string
}

export const DELETE_PICTURE = 'DELETE FROM profilePictures WHERE organizationId = ?1 AND userId = ?2'

export const DELETE_VARIABLE = `
  DELETE FROM environmentVariables WHERE organizationId = ?1 AND projectId = ?2 AND "key" = ?3
  RETURNING "key"`

export function missing(): Response {
  return Response.json({ error: 'There is nothing with this id.' }, { status: 404 })
}
