import { failure } from '../../errors.ts'

export const otherUser = failure(
  'other_user',
  'You can change only the profile picture of the user that your API key acts as.',
)
export const uploadInProgress = failure(
  'upload_in_progress',
  'A new picture is being uploaded. Try again when the upload is done.',
)
export const uploadExpired = failure(
  'upload_expired',
  'The upload took too long, or a newer upload replaced it. Try again.',
)
export const pictureNotFound = failure(
  'profile_picture_not_found',
  'The user has no profile picture. PUT one to this path first.',
)
