/** What a status means in every operation that documents it, for the contracts. */

export const INPUT_IS_WRONG = 'The input is wrong, or the key lacks the caller scope.'
export const OUT_OF_REACH = 'The key is limited to other projects.'
export const UNFORESEEN = 'The service failed.'
export const STORE_IS_AWAY =
  'A store cannot answer now; `Retry-After` says when to ask again. That is safe, for a POST with its `Idempotency-Key`.'
