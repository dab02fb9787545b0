/** Errors of the API, and their one shape in responses: `{ "error": string }`. */
import type { Context } from 'hono'

/** Every error code with its status. Clients depend on the codes, so they never change. */
export const ERROR_STATUSES = {
  invalid_input: 400,
  missing_scope: 400,
  user_required: 400,

  api_key_missing: 401,
  api_key_invalid: 401,
  api_key_expired: 401,
  api_key_revoked: 401,
  organization_suspended: 401,

  api_key_forbidden: 403,
  api_key_is_session: 403,
  api_key_rotated: 403,
  exceeds_own_key: 403,
  fresh_sign_in_required: 403,
  origin_forbidden: 403,
  other_user: 403,
  project_forbidden: 403,
  restricted_key_required: 403,
  unrestricted_key_required: 403,

  agent_not_found: 404,
  api_key_not_found: 404,
  claim_link_not_found: 404,
  deletion_not_found: 404,
  environment_variable_not_found: 404,
  event_endpoint_not_found: 404,
  identity_not_found: 404,
  invitation_not_found: 404,
  path_not_found: 404,
  pin_not_found: 404,
  profile_picture_not_found: 404,
  project_not_found: 404,
  pull_request_not_found: 404,
  resource_not_found: 404,
  run_endpoint_not_found: 404,
  run_not_found: 404,
  schedule_not_found: 404,
  session_file_not_found: 404,
  session_not_found: 404,
  sign_in_rule_not_found: 404,
  skill_feed_not_found: 404,
  skill_not_found: 404,
  skill_version_not_found: 404,
  user_not_found: 404,

  method_not_allowed: 405,

  agent_archived: 409,
  api_key_already_expired: 409,
  api_key_already_rotated: 409,
  claim_mismatch: 409,
  concurrent_change: 409,
  cursor_mismatch: 409,
  environment_variable_limit: 409,
  event_endpoint_limit: 409,
  event_endpoint_unsigned: 409,
  idempotency_key_reused: 409,
  invitation_accepted: 409,
  invitation_exists: 409,
  invitation_limit: 409,
  lease_too_large: 409,
  max_run_seconds_required: 409,
  parent_deleted: 409,
  pin_limit: 409,
  project_archived: 409,
  project_mismatch: 409,
  quota_exceeded: 409,
  rotation_in_progress: 409,
  run_finished: 409,
  run_not_pending: 409,
  schedule_id_taken: 409,
  schedule_limit: 409,
  sign_in_rule_limit: 409,
  skill_feed_limit: 409,
  skill_name_taken: 409,
  token_already_returned: 409,
  upload_expired: 409,
  upload_in_progress: 409,

  agent_deleted: 410,
  claim_link_expired: 410,
  claim_link_used: 410,
  cursor_expired: 410,
  project_deleted: 410,
  pull_request_deleted: 410,
  schedule_deleted: 410,
  session_deleted: 410,
  user_deleted: 410,

  length_required: 411,
  already_exists: 412,
  etag_mismatch: 412,
  body_too_large: 413,
  range_not_satisfiable: 416,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  stopped_by_operator: 503,
  unavailable: 503,
  database_full: 507,
} as const

/** The header `Error-Code`: why a request failed, for programs. */
export type ErrorCode = keyof typeof ERROR_STATUSES

/** A failure that an operation may have. Its contract lists it, and what finds it names it. */
export interface Failure {
  readonly code: ErrorCode
  /** What is wrong and what to change. `{limit}` is a value that only the request knows. */
  readonly message: string
}

export function failure(code: ErrorCode, message: string): Failure {
  return { code, message }
}

/** The failure with the values of its message. */
export function filled({ code, message }: Failure, values: Readonly<Record<string, string | number>>): Failure {
  return { code, message: message.replaceAll(/\{(\w+)\}/g, (name, key) => String(values[key] ?? name)) }
}

/** A response that is not a success. The message tells the client what to change, never what failed inside. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor({ code, message }: Failure, headers: Readonly<Record<string, string>> = HEADERS[code] ?? {}) {
    super(message)
    this.code = code
    this.headers = headers
  }

  get status() {
    return ERROR_STATUSES[this.code]
  }
}

/** What is wrong with one value of the input: the parts of a sentence that http/problems.ts writes. */
export interface Problem {
  /** Follows the name of the value: `is too long`. */
  readonly wrong: string
  readonly allowed: string
  /** What was sent, where the value itself does not show it: `300 characters`. Never text of the client. */
  readonly sent?: string
  /** What to do, as a sentence, where the rest does not say it. */
  readonly advice?: string
}

const RETRY_AFTER_SECONDS = 5
export const RETRY_LATER = { 'Retry-After': String(RETRY_AFTER_SECONDS) }

/** @param what in the plural, such as `claims`. */
export const stopped = (what: string) =>
  failure(
    'stopped_by_operator',
    `The operator of the service has stopped ${what} for now. Nothing is lost: retry later.`,
  )

/** The headers of errors that have no others. */
const HEADERS: { readonly [Code in ErrorCode]?: Readonly<Record<string, string>> } = {
  stopped_by_operator: { 'Retry-After': '60' },
}

export const unauthorized = {
  missing: () =>
    new ApiError(
      failure('api_key_missing', 'The API key is missing. Send it in the header "Authorization: Bearer <API key>".'),
      {
        'WWW-Authenticate': 'Bearer',
      },
    ),
  invalid: () => refusedKey('api_key_invalid', 'The API key is not valid: it is incomplete or unknown.'),
  expired: () => refusedKey('api_key_expired', 'The API key has expired.'),
  revoked: () => refusedKey('api_key_revoked', 'The API key was revoked.'),
  token: () =>
    new ApiError(
      failure(
        'api_key_invalid',
        'The access token is not valid: it has expired, was revoked, or is for another service. Connect again.',
      ),
      INVALID_TOKEN,
    ),
  suspended: () =>
    new ApiError(
      failure(
        'organization_suspended',
        'The operator of the service has suspended the organization of this API key. Ask the operator.',
      ),
      INVALID_TOKEN,
    ),
}

const INVALID_TOKEN = { 'WWW-Authenticate': 'Bearer error="invalid_token"' }

function refusedKey(code: ErrorCode, message: string): ApiError {
  return new ApiError(failure(code, `${message} Use another API key.`), INVALID_TOKEN)
}

export const unavailable = (message = 'The service is temporarily unavailable.') =>
  new ApiError(failure('unavailable', `${message} Retry after ${RETRY_AFTER_SECONDS} seconds.`), RETRY_LATER)

export const databaseFull = () =>
  new ApiError(
    failure(
      'database_full',
      'The database is nearly full. Delete what is no longer needed, or ask the operator of the service.',
    ),
  )

/** @param headers `RETRY_LATER` if the cause passes, and the operation documents no other status for it. */
export const internalError = (
  headers?: Readonly<Record<string, string>>,
  message = 'The request failed because of an internal error. Retry it; if it fails again, report the X-Request-Id of this response.',
) => new ApiError(failure('internal_error', message), headers)

export function errorResponse(c: Context, { code, message, status, headers }: ApiError): Response {
  return c.json({ error: message }, status, { 'Error-Code': code, ...headers })
}
