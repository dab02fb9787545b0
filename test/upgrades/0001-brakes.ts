import { ACME, CHANGED, type SchemaVersion } from './schema-version.ts'

/** What the operator has stopped. Nothing that the other rows need. */
export const brakes: SchemaVersion = {
  migration: '0001_brakes.sql',
  rows: {
    brakes: [{ kind: 'feeds', since: CHANGED }],
    organizationBrakes: [{ organizationId: ACME, kind: 'claims', since: CHANGED }],
  },
}
