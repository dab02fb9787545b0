import { failure, stopped } from '../../../errors.ts'

export const runNotFound = failure('run_not_found', 'There is no run with this runId.')
export const notRedeliverable = failure(
  'run_finished',
  'The run was skipped, has an outcome or timed out; allowed: a run that is pending, that was delivered and has no outcome, or whose failure is "delivery".',
)
export const redeliveryTooLate = failure(
  'run_finished',
  'The time limit of the run is over; allowed: a run within the maxRunSeconds of its schedule.',
)
export const newerRunExists = failure(
  'run_finished',
  'A newer run of the schedule exists, and its overlap is "skip"; allowed: the latest run of such a schedule.',
)
export const claimIdMissing = failure('claim_mismatch', 'The run is claimed. Send its claimId.')
export const outcomeExists = failure(
  'run_finished',
  'The run was skipped, or it has another outcome already. The first outcome stands; retrieve the run to see it.',
)
export const outcomeTooLate = failure(
  'run_finished',
  'The time limit of the run is over; allowed: an outcome within the maxRunSeconds of its schedule.',
)
export const outcomeAfterNewerRun = failure(
  'run_finished',
  'A newer run of the schedule exists, and its overlap is "skip"; allowed: an outcome before the claim or the time limit of the run ends.',
)
export const claimedNotPending = failure(
  'run_not_pending',
  'A worker has claimed the run. Only pending runs can be acknowledged.',
)
export const claimedNotRedeliverable = failure(
  'run_not_pending',
  'A worker has claimed the run. Wait for its outcome, or until its claim has ended.',
)
export const runNotPending = failure(
  'run_not_pending',
  'The run has the status "{status}". Only pending runs can be acknowledged.',
)
export const claimMismatch = failure(
  'claim_mismatch',
  'This is not the current claim of the run. The claim has ended: the run is pending again, was claimed by another worker, its time limit is over, or a newer run exists (overlap "skip").',
)
export const claimsStopped = stopped('claims')
