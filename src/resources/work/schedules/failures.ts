import { deleted, idempotencyKeyReused, unrestrictedKeyRequiredOr } from '../../../access/failures.ts'
import { failure } from '../../../errors.ts'

export const concurrentChange = failure(
  'concurrent_change',
  'Another request changed the schedule at the same time. Try again.',
)
export const runAtIsPast = failure(
  'invalid_input',
  'runAt is in the past; allowed: a later time, or the runAt that the schedule has.',
)
export const timeLimitRequired = failure(
  'max_run_seconds_required',
  'The overlap "skip" requires maxRunSeconds, and the schedule would have none. Send maxRunSeconds, or the overlap "allow".',
)
export const scheduleIdTaken = failure(
  'schedule_id_taken',
  'Another project or agent of the organization has or had a schedule with this ID. Use another ID.',
)
export const scheduleNotFound = (parentType: 'project' | 'agent') =>
  failure('schedule_not_found', `The ${parentType} has no schedule with this scheduleId.`)
export const scheduleDeleted = deleted({ type: 'schedule', noun: 'schedule' })
export const keyReusedForSchedule = idempotencyKeyReused('a new schedule')
export const listRequiresUnrestricted = unrestrictedKeyRequiredOr('List the schedules of one project or agent instead.')
