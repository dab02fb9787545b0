/** Conditional requests (RFC 9110, section 13.1). */

const ENTITY_TAG = String.raw`(W/)?("[\x21\x23-\x7e\x80-\xff]*")`
/** A list of entity tags. List elements may be empty (RFC 9110, section 5.6.1). */
const LIST = new RegExp(String.raw`^[ \t,]*${ENTITY_TAG}(?:[ \t]*,[ \t,]*${ENTITY_TAG})*[ \t,]*$`)

/** True if a header is `*`. */
export function isAny(header: string): boolean {
  return header.trim() === '*'
}

/** True if a header is `*` or a list of entity tags. */
export function isCondition(header: string): boolean {
  return isAny(header) || LIST.test(header)
}

interface Tag {
  readonly isWeak: boolean
  /** With its quotes. */
  readonly opaqueTag: string
}

function tagsIn(list: string): Tag[] {
  if (!LIST.test(list)) return []
  return Array.from(list.matchAll(new RegExp(ENTITY_TAG, 'g')), ([, weakness, opaqueTag = '']) => ({
    isWeak: weakness !== undefined,
    opaqueTag,
  }))
}

/** True if `If-None-Match` is `*` or has the entity tag by weak comparison, as RFC 9110 requires. */
export function matchesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return isAny(ifNoneMatch) || tagsIn(ifNoneMatch).some(({ opaqueTag }) => opaqueTag === entityTag)
}

export interface ConditionalHeaders {
  readonly 'If-Match'?: string | undefined
  readonly 'If-None-Match'?: string | undefined
}

/**
 * The values of the preconditions in access/revision.ts; null without the header. RFC 9110 requires the strong comparison for
 * `If-Match`, in which a weak entity tag matches nothing.
 */
export function conditionsOf({ 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch }: ConditionalHeaders) {
  const strongTags = (list: string) => tagsIn(list).flatMap((tag) => (tag.isWeak ? [] : [tag.opaqueTag]))
  return {
    ifMatch: ifMatch === undefined ? null : isAny(ifMatch) ? '*' : strongTags(ifMatch).join(),
    ifNoneMatch: ifNoneMatch === undefined ? null : '*',
  }
}

/** The response with a resource and its entity tag. */
export function withEntityTag<Row extends { readonly revision: string }>({ revision, ...body }: Row) {
  return { body, headers: { ETag: `"${revision}"` } }
}
