import { failure } from '../../errors.ts'

export const deletionNotFound = failure(
  'deletion_not_found',
  'There is no deletion with this deletionId that can be undone: it is final, what was deleted is restored, or there was none.',
)
export const parentDeleted = failure(
  'parent_deleted',
  'The project or agent that it belonged to was deleted too. Restore that first.',
)
export const skillNameTaken = failure(
  'skill_name_taken',
  'Another skill has this name now. Rename or delete that skill first.',
)
