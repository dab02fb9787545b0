/** What the page Keys lists: as the API names it. */
export const KEY_KINDS = ['key', 'session', 'grant'] as const
