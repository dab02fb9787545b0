/** The numbers of events: their order, their time, and as cursors. */
import { SEQUENCES_PER_MS } from '../../access/event-types.ts'
import { DAY_MS } from '../../durations.ts'

const KEPT_MS = 365 * DAY_MS

/** The first number of the events of this time and later ones. @param instant ISO 8601. */
export const sequenceOf = (instant: string) => Math.max(Date.parse(instant), 0) * SEQUENCES_PER_MS

/** The first number of the time from which events are kept. */
export const oldestKept = (now: string) => sequenceOf(now) - KEPT_MS * SEQUENCES_PER_MS

/** The time of an event, in ISO 8601. */
export const timeOf = (sequence: number) => new Date(Math.floor(sequence / SEQUENCES_PER_MS)).toISOString()

const BASE = 36
const CURSOR_DIGITS = 11
const CURSOR = new RegExp(`^[0-9a-z]{${CURSOR_DIGITS}}$`)

/** A place in the events: the number of the last event before it. */
export const toCursor = (sequence: number) => sequence.toString(BASE).padStart(CURSOR_DIGITS, '0')

/** The place before the events of this time and later ones. @param instant ISO 8601. */
export const cursorBefore = (instant: string) => toCursor(Math.max(sequenceOf(instant) - 1, 0))

export const fromCursor = (cursor: string) => Number.parseInt(cursor, BASE)

export const isCursor = (text: string) => CURSOR.test(text) && Number.isSafeInteger(fromCursor(text))
