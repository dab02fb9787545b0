/** What the page People lists: as the API names it. */
export const KINDS = ['users', 'agents', 'projects'] as const
export type Kind = (typeof KINDS)[number]
