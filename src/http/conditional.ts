/** Conditional requests (RFC 9110, section 13.1.2). */

const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/** True if `If-None-Match` names the entity tag, by the weak comparison that RFC 9110 asks for, or is `*`. */
export function matchesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return Array.from(ifNoneMatch.matchAll(ENTITY_TAG), ([, opaqueTag]) => opaqueTag).includes(entityTag)
}
