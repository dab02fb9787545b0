/**
 * Floor 2: a bare Worker that sends one batch for each request, of as many raw statements as the service sends. It
 * believes what it is told: nothing is authenticated or validated, and a schedule's next run is the time of
 * the request.
 */
import {
  DELETE_PICTURE,
  DELETE_VARIABLE,
  type Environment,
  INSERT_SCHEDULE,
  missing,
  type NewSchedule,
  type PinPlacement,
  PLACE_PIN,
  RENUMBER_PINS,
  SCHEDULE_COLUMNS,
  type Schedule,
  SELECT_FILES,
  SELECT_PLACEMENT,
  type SessionFile,
  SHOWN_CONTENT,
} from './shared.ts'

const HOUR_MS = 3_600_000

const selectParent = (parents: 'projects' | 'agents') => `
  SELECT archivedAt,
    (SELECT count(*) FROM schedules WHERE organizationId = ?1 AND parentType = ?2 AND parentId = ?3) AS scheduleCount
  FROM ${parents} WHERE organizationId = ?1 AND id = ?3`

const selectSchedule = (parents: 'projects' | 'agents') => `
  SELECT ${SCHEDULE_COLUMNS[parents]} FROM schedules
  WHERE organizationId = ?1 AND parentType = ?2 AND parentId = ?3 AND id = ?4`

const SELECT_SESSION = 'SELECT projectId FROM sessions WHERE organizationId = ?1 AND id = ?2'

const SELECT_REVISION = 'SELECT revision FROM skills WHERE organizationId = ?1 AND id = ?2'

const SELECT_SKILL = `
  SELECT id, name, description, createdAt, updatedAt FROM skills WHERE organizationId = ?1 AND id = ?2`

const SELECT_SKILL_FILES = `
  SELECT file.value ->> 'id' AS id, file.value ->> 'filename' AS filename, ${SHOWN_CONTENT} AS content
  FROM skills
    JOIN skillVersions ON skillVersions.organizationId = ?1 AND skillVersions.skillId = ?2 AND skillVersions.version = skills.version
    JOIN json_each(skillVersions.files) AS file
    JOIN skillContents ON skillContents.organizationId = ?1 AND skillContents.skillId = ?2
      AND skillContents.sha256 = file.value ->> 'sha256'
  WHERE skills.organizationId = ?1 AND skills.id = ?2 ORDER BY file.key`

const SELECT_PICTURE = `
  SELECT users.id, profilePictures.leaseExpiresAt FROM users
  LEFT JOIN profilePictures
    ON profilePictures.organizationId = users.organizationId AND profilePictures.userId = users.id
  WHERE users.organizationId = ?1 AND users.id = ?2`

const ORPHAN_PICTURE = `
  INSERT INTO orphanedObjects (objectKey, deleteAfter)
  SELECT objectKey, ?3 FROM profilePictures
  WHERE organizationId = ?1 AND userId = ?2 AND objectKey IS NOT NULL
  ON CONFLICT DO NOTHING`

const SELECT_PROJECT = 'SELECT archivedAt FROM projects WHERE organizationId = ?1 AND id = ?2'

export default {
  async fetch(request, { DB, ORGANIZATION_ID, USER_ID }) {
    const [path = '', search] = request.url.split('?')
    const [, , , , resource, id = '', child = '', key = ''] = path.split('/')
    const now = new Date().toISOString()

    switch (`${request.method} ${resource}`) {
      case 'PATCH pins': {
        const { placement } = await request.json<PinPlacement>()
        const { target, position } = placement
        const direction = position === 'before' ? -1 : 1
        const values = [ORGANIZATION_ID, USER_ID, id, child, target.type, target.id, direction]
        const [, , placed] = await DB.batch([
          DB.prepare(SELECT_PLACEMENT).bind(...values),
          DB.prepare(RENUMBER_PINS).bind(...values),
          DB.prepare(PLACE_PIN).bind(...values, now),
        ])
        return Response.json({ updated: placed?.results.length === 1 })
      }

      case 'POST projects':
      case 'POST agents': {
        const parents = resource as 'projects' | 'agents'
        const { cron, timezone = 'UTC' } = await request.json<NewSchedule>()
        const parent = [ORGANIZATION_ID, parents.slice(0, -1), id]
        const scheduleId = crypto.randomUUID()
        const [, , created] = await DB.batch<Schedule>([
          DB.prepare(selectParent(parents)).bind(...parent),
          DB.prepare(INSERT_SCHEDULE).bind(...parent, scheduleId, cron, timezone, now),
          DB.prepare(selectSchedule(parents)).bind(...parent, scheduleId),
        ])
        return Response.json(created?.results[0], {
          status: 201,
          headers: { Location: `/v1/${resource}/${id}/schedules/${scheduleId}` },
        })
      }

      case 'GET sessions': {
        const query = new URLSearchParams(search)
        const limit = Number(query.get('limit') ?? 50)
        const [session, files] = await DB.batch<SessionFile>([
          DB.prepare(SELECT_SESSION).bind(ORGANIZATION_ID, id),
          DB.prepare(SELECT_FILES).bind(ORGANIZATION_ID, id, query.get('cursor') ?? '', limit + 1),
        ])
        const rows = files?.results ?? []
        const items = rows.slice(0, limit)
        const nextCursor = rows.length > limit ? items.at(-1)?.id : null
        return session?.results[0] ? Response.json({ items, nextCursor }) : missing()
      }

      case 'GET skills': {
        const [, skills, files] = await DB.batch<object>([
          DB.prepare(SELECT_REVISION).bind(ORGANIZATION_ID, id),
          DB.prepare(SELECT_SKILL).bind(ORGANIZATION_ID, id),
          DB.prepare(SELECT_SKILL_FILES).bind(ORGANIZATION_ID, id),
        ])
        const skill = skills?.results[0]
        return skill ? Response.json({ ...skill, files: files?.results }) : missing()
      }

      case 'DELETE users': {
        const deleteAfter = new Date(Date.now() + HOUR_MS).toISOString()
        const [user] = await DB.batch([
          DB.prepare(SELECT_PICTURE).bind(ORGANIZATION_ID, id),
          DB.prepare(ORPHAN_PICTURE).bind(ORGANIZATION_ID, id, deleteAfter),
          DB.prepare(DELETE_PICTURE).bind(ORGANIZATION_ID, id),
        ])
        return user?.results[0] ? Response.json({ userId: id, deleted: true }) : missing()
      }

      case 'DELETE projects': {
        const [, deleted] = await DB.batch([
          DB.prepare(SELECT_PROJECT).bind(ORGANIZATION_ID, id),
          DB.prepare(DELETE_VARIABLE).bind(ORGANIZATION_ID, id, key),
        ])
        return deleted?.results[0] ? Response.json({ deleted: true, key }) : missing()
      }
    }
    return missing()
  },
} satisfies ExportedHandler<Environment>
