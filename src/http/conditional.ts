/** Conditional requests (RFC 9110, section 13.1). */

const ENTITY_TAG = String.raw`(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")`
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

/** The opaque tags of a list, with their quotes. */
function tagsIn(list: string): string[] {
  return LIST.test(list) ? Array.from(list.matchAll(new RegExp(ENTITY_TAG, 'g')), ([, tag = '']) => tag) : []
}

/** True if `If-None-Match` is `*` or has the entity tag by weak comparison, as RFC 9110 requires. */
export function matchesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return isAny(ifNoneMatch) || tagsIn(ifNoneMatch).includes(entityTag)
}

export interface ConditionalHeaders {
  readonly 'If-Match'?: string | undefined
  readonly 'If-None-Match'?: string | undefined
}

/**
 * The values of the preconditions in access/revision.ts; null without the header. No tag of the service is weak, so
 * `W/` comes from a proxy that compressed the response, as Cloudflare does, and is ignored. RFC 9110 would compare it
 * strongly.
 */
export function parseConditions({ 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch }: ConditionalHeaders) {
  return {
    ifMatch: ifMatch === undefined ? null : isAny(ifMatch) ? '*' : tagsIn(ifMatch).join(),
    ifNoneMatch: ifNoneMatch === undefined ? null : '*',
  }
}

/** The response with a resource and its entity tag. */
export function withEntityTag<Row extends { readonly revision: string }>({ revision, ...body }: Row) {
  return { body, headers: { ETag: `"${revision}"` } }
}
