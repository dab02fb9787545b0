/** A schema version: from one migration that changes what the service writes to the next. */

export type Row = Readonly<Record<string, string | number | null>>

/** By table. Columns that a row leaves out are null. */
export type Rows = Readonly<Record<string, readonly Row[]>>

export interface SchemaVersion {
  /** The migration that begins it. */
  readonly migration: string
  /**
   * What its migration makes of the rows of earlier versions. Left out: new columns are null, and nothing else changes.
   */
  becomes?(rows: Rows): Rows
  /** Rows as only the service of this version, and of later ones, writes them. */
  readonly rows: Rows
  /** The contents of objects in R2, by their keys. */
  readonly objects?: Readonly<Record<string, string>>
}

/** The ids of the fixtures, readable in a diff. */
export const uuid = (number: number) => `0195c2a4-0000-7000-8000-${String(number).padStart(12, '0')}`

/**
 * Two organizations that have the same ids wherever they may, one that has nothing, and one with a slow run endpoint.
 */
export const ACME = uuid(1)
export const GLOBEX = uuid(2)
export const EMPTY = uuid(3)
export const INITECH = uuid(4)

export const WEBSITE = uuid(101)
export const MOBILE = 'mobile app/Größe'
export const LEGACY = 'legacy'
/** A project that was deleted a moment ago: the purge has not removed its dependents yet. */
export const GONE = 'gone'
export const REVIEWER = uuid(201)
export const RETIRED = uuid(202)
export const CHECKOUT = uuid(301)
export const ICONS = uuid(302)
export const HOURLY = uuid(401)

/** When the fixtures were written, for the most part. */
export const WRITTEN = '2026-03-02T09:15:00.000Z'
export const CHANGED = '2026-03-27T14:05:09.120Z'
export const FAR_AHEAD = '2999-01-01T00:00:00.000Z'
