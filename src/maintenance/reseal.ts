/**
 * Reseals values: encrypts those that an older key of the key ring encrypted with the newest one, so that the older key
 * can be removed. Values of keys that are not in the ring stay unchanged, because they cannot be decrypted.
 */

import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type KeyRing, parseKeyRing } from '../crypto/key-ring.ts'
import { open, type SealedContext, seal } from '../crypto/sealed-value.ts'
import type { Database, DatabaseEnvironment } from '../db/database.ts'
import { describeFailure } from '../db/failures.ts'
import { isSettled } from '../db/halts.ts'
import { now, number, text } from '../db/parameters.ts'
import { jsonRows } from '../db/rows.ts'
import { environmentVariables, eventEndpoints, keyIdOf, runEndpoints } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { eventEndpointContext } from '../resources/events/endpoints/sealed-context.ts'
import { runEndpointContext } from '../resources/work/run-endpoint/sealed-context.ts'

/** A value has up to 64 KiB, a third more when it is sealed, and a parameter of D1 has up to 2 MB. */
const PAGE_SIZE = 20
/** For each column. A page takes two statements. */
const MAX_PAGES_PER_TICK = 20

const keyId = text('keyId')
const after = number('after')
const resealed = jsonRows('resealed', 'rowid', 'before', 'sealed')

/** A row with a sealed value. Columns that its table does not have are null. */
interface SealedRow {
  readonly rowid: number
  readonly sealed: string
  readonly organizationId: string
  readonly projectId: string | null
  readonly key: string | null
  readonly id: string | null
}

interface SealedTable extends SQLiteTable {
  readonly organizationId: SQLiteColumn
  readonly projectId?: SQLiteColumn
  readonly key?: SQLiteColumn
  readonly id?: SQLiteColumn
}

/**
 * The statements that reseal a column of sealed values.
 * @param contextOf the context that the value of a row is sealed for.
 */
function sealedIn(table: SealedTable, column: SQLiteColumn, contextOf: (row: SealedRow) => SealedContext) {
  const rowid = sql<number>`${table}.rowid`
  const fields = {
    rowid: rowid.as('rowid'),
    sealed: sql<string>`${column}`.as('sealed'),
    organizationId: sql<string>`${table.organizationId}`.as('organizationId'),
    projectId: sql<string | null>`${table.projectId ?? null}`.as('projectId'),
    key: sql<string | null>`${table.key ?? null}`.as('key'),
    id: sql<string | null>`${table.id ?? null}`.as('id'),
  }
  return {
    table,
    column,
    contextOf,
    select: unguarded({ keyId, after, now }, () =>
      query
        .select(fields)
        .from(table)
        .where(and(eq(keyIdOf(column), keyId), gt(rowid, after), isSettled(table.organizationId)))
        .orderBy(asc(rowid))
        .limit(PAGE_SIZE),
    ),
    /**
     * Skips values that changed since they were read. Each sealed value begins differently, because its IV is unique.
     */
    update: unguarded({ parameter: resealed.parameter, now }, () =>
      query
        .update(table)
        .set({ [column.name]: sql`${resealed.column('sealed')}` })
        .from(resealed.table)
        .where(
          and(
            eq(rowid, resealed.column('rowid')),
            eq(sql`substr(${column}, 1, length(${resealed.column('before')}))`, resealed.column('before')),
            isSettled(table.organizationId),
          ),
        ),
    ),
  }
}

const ofEndpoint = ({ organizationId }: SealedRow): SealedContext => runEndpointContext(organizationId)

const ofEventEndpoint =
  (part: 'url' | 'secret') =>
  ({ organizationId, id }: SealedRow): SealedContext =>
    eventEndpointContext(organizationId, id ?? '', part)

export const SEALED = [
  sealedIn(environmentVariables, environmentVariables.sealedValue, ({ organizationId, projectId, key }) => ({
    purpose: 'environment-variable',
    organizationId,
    projectId,
    name: key ?? '',
  })),
  sealedIn(runEndpoints, runEndpoints.sealedSecret, ofEndpoint),
  sealedIn(runEndpoints, runEndpoints.previousSealedSecret, ofEndpoint),
  sealedIn(eventEndpoints, eventEndpoints.sealedUrl, ofEventEndpoint('url')),
  sealedIn(eventEndpoints, eventEndpoints.sealedSecret, ofEventEndpoint('secret')),
  sealedIn(eventEndpoints, eventEndpoints.previousSealedSecret, ofEventEndpoint('secret')),
]

/** Reseals some pages. */
export async function resealValues({ database, ENCRYPTION_KEYS }: DatabaseEnvironment, instant: Date): Promise<void> {
  if (!ENCRYPTION_KEYS) return
  const ring = parseKeyRing(ENCRYPTION_KEYS)
  for (const keyId of ring.keys.keys()) {
    if (keyId === ring.newest) continue
    for (const column of SEALED) await resealColumn(database, column, keyId, ring, instant.toISOString())
  }
}

async function resealColumn(
  database: Database,
  { select, update, contextOf }: ReturnType<typeof sealedIn>,
  keyId: string,
  ring: KeyRing,
  now: string,
): Promise<void> {
  let { rows } = await runBatch(database, { rows: select }, { keyId, after: 0, now })
  for (let page = 0; rows.length > 0 && page < MAX_PAGES_PER_TICK; page++) {
    const sealedAgain = await Promise.all(rows.map((row) => resealRow(row, contextOf(row), ring)))
    const after = rows.at(-1)?.rowid ?? 0
    const values = { keyId, after, now, resealed: resealed.value(sealedAgain.flat()) }
    ;({ rows } = await runBatch(database, { update, rows: select }, values))
  }
}

/** Empty if the value cannot be decrypted: then it was altered, and stays unchanged. */
async function resealRow({ rowid, sealed: before }: SealedRow, context: SealedContext, ring: KeyRing) {
  try {
    const sealed = await seal(await open(before, context, ring), context, ring)
    return [{ rowid, before: before.slice(0, before.lastIndexOf('.')), sealed }]
  } catch (error) {
    console.error(JSON.stringify({ rowid, failure: describeFailure(error) }))
    return []
  }
}
