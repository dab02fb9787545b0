/** Organizations, for tests on Node that have the database of a Worker. */
import { v7 as newUuid } from 'uuid'
import { insertApiKey, insertOrganization, mintApiKey } from '../../operate/provisioning.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { runBatch } from '../../src/db/statement.ts'

/** A new organization, and the token of a key with every scope. */
export async function addOrganization(database: D1Database): Promise<{ id: string; apiKey: string }> {
  const row = { id: newUuid(), name: 'Acme', createdAt: new Date().toISOString() }
  const key = await mintApiKey({ organizationId: row.id, name: 'test', scopes: SCOPES, createdAt: row.createdAt })
  await runBatch(database, { insertOrganization }, row)
  await runBatch(database, { insertApiKey }, key.row)
  return { id: row.id, apiKey: key.token }
}
