/** Conditional requests (RFC 9110, section 13.1.2). */

const ENTITY_TAG = String.raw`(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")`
/** A list of entity tags. List elements may be empty (RFC 9110, section 5.6.1). */
const LIST = new RegExp(String.raw`^[ \t,]*${ENTITY_TAG}(?:[ \t]*,[ \t,]*${ENTITY_TAG})*[ \t,]*$`)

/** True if `If-None-Match` is `*` or has the entity tag by weak comparison, as RFC 9110 requires. */
export function matchesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  if (!LIST.test(ifNoneMatch)) return false
  const opaqueTags = Array.from(ifNoneMatch.matchAll(new RegExp(ENTITY_TAG, 'g')), ([, tag]) => tag)
  return opaqueTags.includes(entityTag)
}
