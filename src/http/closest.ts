/** Finds what a person meant who misspelt a name: "Did you mean timezone?" */

const MAX_ERRORS = 2
/** No name or path that is known is as long, and comparing one of 15 MiB takes seconds. */
const MAX_CHARACTERS = 500

/** The candidate that a misspelt name means, if one is close to it. */
export function closest(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_CHARACTERS) return undefined
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= MAX_ERRORS)
    .toSorted((a, b) => a.distance - b.distance)
  return best?.candidate
}

/** Like `closest`, or else the candidate that is the beginning of the name, or that the name is the beginning of. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_CHARACTERS) return undefined
  const sent = fold(name)
  const isPart = (part: string, whole: string) => part.length > 2 && whole.startsWith(part)
  return (
    closest(name, candidates) ??
    candidates.find((candidate) => isPart(sent, fold(candidate)) || isPart(fold(candidate), sent))
  )
}

/** A deployment's prefix, and a version, whichever it is. */
const BEFORE_RESOURCE = /^(?:\/+(?:api|public-api|v\d+))*(?=\/)/i

/**
 * The template of the path that a wrong path means, apart from a missing `/v1`, other prefixes, slashes too many, case
 * and typing errors. @param templates such as `/v1/projects/{projectId}`.
 */
export function closestPath(path: string, templates: readonly string[]): string | undefined {
  if (path.length > MAX_CHARACTERS) return undefined
  const sent = path.replace(BEFORE_RESOURCE, '').replace(/\/+$/, '').split('/').slice(1)
  // An empty segment is a parameter without a value, or a slash too many.
  for (const segments of [sent, sent.filter(Boolean)]) {
    const [best] = templates
      .map((template) => ({ template, distance: distanceOfPath(segments, template) }))
      .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
      .toSorted((a, b) => a.distance - b.distance)
    if (best) return best.template
  }
  return undefined
}

function distanceOfPath(sent: readonly string[], template: string): number {
  const segments = template.replace(BEFORE_RESOURCE, '').split('/').slice(1)
  if (segments.length !== sent.length) return Number.POSITIVE_INFINITY
  return segments.reduce(
    (sum, segment, index) => sum + (segment.startsWith('{') ? 0 : editDistance(sent[index] ?? '', segment)),
    0,
  )
}

/**
 * The number of typing errors between two names, apart from case and punctuation; infinite if there are more than a
 * word of its length has by mistake.
 */
export function editDistance(a: string, b: string): number {
  const [x, y] = [fold(a), fold(b)]
  const most = Math.min(MAX_ERRORS, Math.floor(x.length / 3))
  if (Math.abs(x.length - y.length) > most) return Number.POSITIVE_INFINITY
  const errors = Array.from({ length: most + 1 }, (_, count) => count).find((count) => isWithin(x, y, count))
  return errors ?? Number.POSITIVE_INFINITY
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/**
 * True if the texts are up to `errors` typing errors apart: a character too many, too few or wrong, or two exchanged.
 */
function isWithin(a: string, b: string, errors: number): boolean {
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const [x, y] = [a.slice(same), b.slice(same)]
  if (x === y) return true
  if (errors === 0) return false
  const isExchanged = x[0] === y[1] && x[1] === y[0]
  return (
    isWithin(x.slice(1), y, errors - 1) ||
    isWithin(x, y.slice(1), errors - 1) ||
    isWithin(x.slice(1), y.slice(1), errors - 1) ||
    (isExchanged && isWithin(x.slice(2), y.slice(2), errors - 1))
  )
}
