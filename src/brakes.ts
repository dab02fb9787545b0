/** What the operator can stop, for one organization or for all (docs/operate.md). */
export const BRAKES = ['firing', 'deliveries', 'claims', 'feeds'] as const
