/**
 * The floor of what is done beside the seven operations: a bare Worker that sends raw SQL in a batch and believes what it
 * is told. A delivery sends a second batch, because what the receiver answers is written down.
 */
import type { DeliveryMessage } from '../../src/environment.ts'
import { RUNS_PER_MESSAGE } from '../../src/resources/work/run-queue.ts'
import { missing } from './shared.ts'

interface Environment {
  readonly DB: D1Database
  readonly DELIVERIES: Queue<DeliveryMessage>
}

const RECEIVER = 'https://receiver.example.com/'
const DAY_MS = 86_400_000

const SELECT_DUE = 'SELECT organizationId, id FROM schedules WHERE nextRunAt <= ?1 ORDER BY nextRunAt, organizationId'

const INSERT_RUNS = `
  INSERT INTO runs (organizationId, scheduleId, scheduledAt, id, parentType, parentId, status, attempts, checkAt, createdAt, updatedAt)
  SELECT organizationId, id, nextRunAt, lower(hex(randomblob(16))), parentType, parentId, 'pending', 0,
    (SELECT ?2 FROM runEndpoints WHERE runEndpoints.organizationId = schedules.organizationId), ?1, ?1
  FROM schedules WHERE nextRunAt <= ?1
  RETURNING organizationId, id, attempts, checkAt`

const ADVANCE_SCHEDULES = 'UPDATE schedules SET lastRunAt = nextRunAt, nextRunAt = ?2 WHERE nextRunAt <= ?1'

const SELECT_RUNS = `
  SELECT runs.id, runs.scheduledAt, schedules.id AS scheduleId, schedules.parentId, schedules.payload, runEndpoints.url
  FROM json_each(?1) AS reference
    JOIN runs ON runs.organizationId = reference.value ->> 'organizationId' AND runs.id = reference.value ->> 'id'
    JOIN schedules ON schedules.organizationId = runs.organizationId AND schedules.id = runs.scheduleId
    JOIN runEndpoints ON runEndpoints.organizationId = runs.organizationId
  WHERE runs.status = 'pending'`

const MARK_DELIVERED = `
  UPDATE runs SET status = 'delivered', attempts = attempts + 1, checkAt = NULL, updatedAt = ?3
  WHERE organizationId = ?1 AND id = ?2`

const SELECT_EVENTS = `
  SELECT sequence, id, type, resourceId, resourceName, projectId, apiKeyId, userId FROM auditEvents
  WHERE organizationId = ?1 AND sequence >
    (SELECT deliveredSequence FROM eventEndpoints WHERE organizationId = ?1 AND id = ?2)
  ORDER BY sequence LIMIT 100`

const ADVANCE_ENDPOINT = `
  UPDATE eventEndpoints SET deliveredSequence = ?3, leaseExpiresAt = NULL WHERE organizationId = ?1 AND id = ?2`

const CLAIM_RUN = `
  UPDATE runs SET attempts = attempts + 1, claimId = ?2, startedAt = ?3, checkAt = ?4, updatedAt = ?3
  WHERE organizationId = ?1 AND id =
    (SELECT id FROM runs INDEXED BY runsToPull WHERE organizationId = ?1 AND status = 'pending' AND checkAt IS NULL
     ORDER BY parentType, parentId, id LIMIT 1)
  RETURNING id, scheduleId, scheduledAt, parentId, status, claimId`

const INSERT_PROJECT = `
  INSERT INTO projects (organizationId, id, name, createdAt, updatedAt, revision) VALUES (?1, ?2, ?3, ?4, ?4, ?4)
  RETURNING id, name, createdAt, updatedAt`

const INSERT_EVENT = `
  INSERT INTO auditEvents (organizationId, sequence, id, type, resourceId, resourceName, projectId)
  SELECT ?1, max(coalesce(max(sequence), 0) + 1, ?5), ?2, 'project.created', ?3, ?4, ?3
  FROM (SELECT sequence FROM auditEvents WHERE organizationId = ?1 ORDER BY sequence DESC LIMIT 1)`

const SELECT_ME = 'SELECT id, name FROM users WHERE organizationId = ?1 LIMIT 1'
const SELECT_LAST_EVENT = 'SELECT max(sequence) AS last FROM auditEvents WHERE organizationId = ?1'
const SELECT_LATEST_RUNS = 'SELECT * FROM runs WHERE organizationId = ?1 ORDER BY id DESC LIMIT 50'
const selectNames = (table: string) => `SELECT id, name FROM ${table} WHERE organizationId = ?1 ORDER BY id LIMIT 100`

const SELECT_PINS = `
  SELECT pins.resourceType, pins.resourceId, sessions.name FROM pins
    LEFT JOIN sessions ON sessions.organizationId = pins.organizationId AND sessions.id = pins.resourceId
  WHERE pins.organizationId = ?1 AND pins.userId = ?2 ORDER BY pins.position LIMIT 50`

export default {
  async scheduled({ scheduledTime }, { DB, DELIVERIES }) {
    const now = new Date(scheduledTime).toISOString()
    const later = new Date(scheduledTime + DAY_MS).toISOString()
    const [, inserted] = await DB.batch<{
      organizationId: string
      id: string
      attempts: number
      checkAt: string | null
    }>([
      DB.prepare(SELECT_DUE).bind(now),
      DB.prepare(INSERT_RUNS).bind(now, later),
      DB.prepare(ADVANCE_SCHEDULES).bind(now, later),
    ])
    const queued = inserted?.results.filter(({ checkAt }) => checkAt !== null) ?? []
    const byOrganization = Map.groupBy(queued, ({ organizationId }) => organizationId)
    const messages = Array.from(byOrganization.values()).flatMap((runs) =>
      Array.from({ length: Math.ceil(runs.length / RUNS_PER_MESSAGE) }, (_, index) => ({
        body: { database: 0, runs: runs.slice(index * RUNS_PER_MESSAGE, (index + 1) * RUNS_PER_MESSAGE) },
      })),
    )
    // A queue takes up to 100 messages at once.
    for (let start = 0; start < messages.length; start += 100) {
      await DELIVERIES.sendBatch(messages.slice(start, start + 100))
    }
  },

  async queue({ messages }, { DB }) {
    const now = new Date().toISOString()
    for (const { body } of messages) {
      if ('runs' in body) {
        const [selected] = await DB.batch<{ id: string; url: string }>([
          DB.prepare(SELECT_RUNS).bind(JSON.stringify(body.runs)),
        ])
        const [reference] = body.runs
        const runs = selected?.results ?? []
        await Promise.all(runs.map((run) => fetch(RECEIVER, { method: 'POST', body: JSON.stringify(run) })))
        await DB.batch(runs.map(({ id }) => DB.prepare(MARK_DELIVERED).bind(reference?.organizationId, id, now)))
      } else {
        const { organizationId, id } = body.endpoint
        const [events] = await DB.batch<{ sequence: number }>([DB.prepare(SELECT_EVENTS).bind(organizationId, id)])
        const items = events?.results ?? []
        await fetch(RECEIVER, { method: 'POST', body: JSON.stringify({ items }) })
        await DB.batch([DB.prepare(ADVANCE_ENDPOINT).bind(organizationId, id, items.at(-1)?.sequence)])
      }
    }
  },

  async fetch(request, { DB }) {
    const { pathname } = new URL(request.url)
    const organizationId = request.headers.get('X-Organization')
    const now = new Date().toISOString()
    const id = crypto.randomUUID()
    if (pathname === '/v1/runs/claim') {
      await request.json()
      const until = new Date(Date.now() + DAY_MS).toISOString()
      const [claimed] = await DB.batch([DB.prepare(CLAIM_RUN).bind(organizationId, id, now, until)])
      return Response.json({ items: claimed?.results })
    }
    if (pathname.startsWith('/v1/projects/')) {
      const projectId = pathname.slice('/v1/projects/'.length)
      const { name } = await request.json<{ name: string }>()
      const [project] = await DB.batch([
        DB.prepare(INSERT_PROJECT).bind(organizationId, projectId, name, now),
        DB.prepare(INSERT_EVENT).bind(organizationId, id, projectId, name, Date.now() * 1024),
      ])
      return Response.json(project?.results[0], { status: 201 })
    }
    if (pathname === '/mcp') {
      const message = await request.json<{ id: number }>()
      const [pins] = await DB.batch([DB.prepare(SELECT_PINS).bind(organizationId, 'ada')])
      const structuredContent = { items: pins?.results }
      const content = [{ type: 'text', text: JSON.stringify(structuredContent) }]
      return Response.json({ jsonrpc: '2.0', id: message.id, result: { content, structuredContent } })
    }
    if (pathname === '/view') {
      const statements = [
        SELECT_ME,
        SELECT_LAST_EVENT,
        SELECT_LATEST_RUNS,
        selectNames('projects'),
        selectNames('agents'),
      ]
      const all = await DB.batch(statements.map((sql) => DB.prepare(sql).bind(organizationId)))
      return Response.json(all.map(({ results }) => results))
    }
    return missing()
  },
} satisfies ExportedHandler<Environment, DeliveryMessage>
