/** The rotation of the secret of a receiver, in SQL. At most two secrets are valid at a time. */
import { type SQLWrapper, sql } from 'drizzle-orm'
import { rotationInProgress } from '../access/failures.ts'
import { precondition } from '../access/preconditions.ts'
import { now, text, textOrNull } from '../db/parameters.ts'

const sealedSecret = text('sealedSecret')
/** When the previous secret expires; null if it ends with the rotation. */
const expiresAt = textOrNull('expiresAt')

/** @param receiver the columns of its table. */
export function rotationOf(
  receiver: Readonly<Record<'sealedSecret' | 'previousSealedSecret' | 'previousExpiresAt', SQLWrapper>>,
) {
  const overlaps = sql`coalesce(${receiver.previousExpiresAt} > ${now}, false)`
  const whileItOverlaps = (column: SQLWrapper) => sql<string | null>`case when ${overlaps} then ${column} end`
  return {
    /** The previous secret, and when it expires; NULL if it has. */
    previousSealedSecret: whileItOverlaps(receiver.previousSealedSecret).as('previousSealedSecret'),
    previousSecretExpiresAt: whileItOverlaps(receiver.previousExpiresAt).as('previousSecretExpiresAt'),

    noThirdSecret: precondition(sql`(${expiresAt} is null or not ${overlaps})`, rotationInProgress, { expiresAt }),

    /** The parameter of `rotated`, beside that of the precondition. */
    parameter: sealedSecret,
    /** The columns that a rotation changes. */
    rotated: {
      previousSealedSecret: sql`case when ${expiresAt} is not null then ${receiver.sealedSecret} end`,
      previousExpiresAt: sql`${expiresAt}`,
      sealedSecret: sql`${sealedSecret}`,
      updatedAt: sql`${now}`,
    },
  }
}
