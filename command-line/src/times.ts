/** Times, as people read them. */

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]
/** Times that are further away are shown as dates. */
const MAX_RELATIVE_MS = 14 * DAY_MS

/** Such as "in 3 h" or "2 days ago"; a date in the zone of this machine if it is two weeks away or more. */
export function relativeTime(date: Date, now = Date.now()): string {
  const difference = date.getTime() - now
  const distance = Math.abs(difference)
  if (distance >= MAX_RELATIVE_MS) return localTime(date).slice(0, 'YYYY-MM-DD'.length)
  const amount =
    distance < MINUTE_MS
      ? `${Math.floor(distance / 1000)} s`
      : distance < HOUR_MS
        ? `${Math.floor(distance / MINUTE_MS)} min`
        : distance < 2 * DAY_MS
          ? `${Math.floor(distance / HOUR_MS)} h`
          : `${Math.floor(distance / DAY_MS)} days`
  return difference > 0 ? `in ${amount}` : `${amount} ago`
}

/** Both, if they say different things. */
export function localAndRelativeTime(date: Date, now = Date.now()): string {
  const [local, relative] = [localTime(date), relativeTime(date, now)]
  return local.startsWith(relative) ? local : `${local}, ${relative}`
}

/** In the zone of this machine, to the second. */
export function localTime(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}
