/**
 * Floor 1: a bare Worker that sends one raw statement for each request. It believes what it is told: nothing is
 * authenticated, validated or explained, and a schedule's next run is the time of the request.
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
  SCHEDULE_COLUMNS,
  type Schedule,
  SELECT_FILES,
  type SessionFile,
  SHOWN_CONTENT,
} from './shared.ts'

const SELECT_SKILL = `
  SELECT id, name, description, createdAt, updatedAt,
    (SELECT json_group_array(json_object('id', file.value ->> 'id', 'filename', file.value ->> 'filename',
        'content', ${SHOWN_CONTENT}) ORDER BY file.key)
     FROM skillVersions
       JOIN json_each(skillVersions.files) AS file
       JOIN skillContents ON skillContents.organizationId = ?1 AND skillContents.skillId = ?2
         AND skillContents.sha256 = file.value ->> 'sha256'
     WHERE skillVersions.organizationId = ?1 AND skillVersions.skillId = ?2 AND skillVersions.version = skills.version) AS files
  FROM skills WHERE organizationId = ?1 AND id = ?2`

export default {
  async fetch(request, { DB, ORGANIZATION_ID, USER_ID }) {
    const [path = '', search] = request.url.split('?')
    const [, , , , resource, id = '', child = '', key = ''] = path.split('/')
    const now = new Date().toISOString()

    switch (`${request.method} ${resource}`) {
      case 'PATCH pins': {
        const { placement } = await request.json<PinPlacement>()
        const { target, position } = placement
        const placed = await DB.prepare(PLACE_PIN)
          .bind(ORGANIZATION_ID, USER_ID, id, child, target.type, target.id, position === 'before' ? -1 : 1, now)
          .first()
        return Response.json({ updated: placed !== null })
      }

      case 'POST projects':
      case 'POST agents': {
        const parents = resource as 'projects' | 'agents'
        const { cron, timezone = 'UTC' } = await request.json<NewSchedule>()
        const schedule = await DB.prepare(`${INSERT_SCHEDULE} RETURNING ${SCHEDULE_COLUMNS[parents]}`)
          .bind(ORGANIZATION_ID, parents.slice(0, -1), id, crypto.randomUUID(), cron, timezone, now)
          .first<Schedule>()
        return Response.json(schedule, {
          status: 201,
          headers: { Location: `/v1/${resource}/${id}/schedules/${schedule?.id}` },
        })
      }

      case 'GET sessions': {
        const query = new URLSearchParams(search)
        const limit = Number(query.get('limit') ?? 50)
        const { results } = await DB.prepare(SELECT_FILES)
          .bind(ORGANIZATION_ID, id, query.get('cursor') ?? '', limit + 1)
          .all<SessionFile>()
        const items = results.slice(0, limit)
        return Response.json({ items, nextCursor: results.length > limit ? items.at(-1)?.id : null })
      }

      case 'GET skills': {
        const skill = await DB.prepare(SELECT_SKILL).bind(ORGANIZATION_ID, id).first<{ files: string }>()
        return skill ? Response.json({ ...skill, files: JSON.parse(skill.files) }) : missing()
      }

      case 'DELETE users':
        await DB.prepare(DELETE_PICTURE).bind(ORGANIZATION_ID, id).run()
        return Response.json({ userId: id, deleted: true })

      case 'DELETE projects': {
        const deleted = await DB.prepare(DELETE_VARIABLE).bind(ORGANIZATION_ID, id, key).first()
        return deleted ? Response.json({ deleted: true, key }) : missing()
      }
    }
    return missing()
  },
} satisfies ExportedHandler<Environment>
