/** What the operator can stop, for one organization or for all (docs/operate.md). */
export const BRAKES = ['firing', 'deliveries', 'claims', 'feeds'] as const

/** When the tick checks an overdue run of a suspended organization: the resumption replaces it (operate/suspension.ts). */
export const ON_RESUMPTION = '9999-12-31T23:59:59.999Z'
