/** Times of the API. */
import { relativeTime } from '../../command-line/src/times.ts'

/** A time of the API, for a table or a list of properties. What is not a time stays text. */
export function time(text: string | null | undefined): Date | string | null {
  const date = new Date(text ?? '')
  return Number.isNaN(date.getTime()) ? (text ?? null) : date
}

/** The same within a sentence. */
export function timeText(text: string | null, { utc }: { readonly utc?: true | undefined }): string {
  const shown = time(text)
  return shown instanceof Date && !utc ? relativeTime(shown) : (text ?? '-')
}
