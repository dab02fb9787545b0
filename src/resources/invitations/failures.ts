import { failure } from '../../errors.ts'

export const invitationExists = failure(
  'invitation_exists',
  'There is an open invitation for this e-mail address and issuer. Delete it first.',
)
export const invitationNotFound = failure('invitation_not_found', 'There is no invitation with this invitationId.')
export const invitationLimit = failure(
  'invitation_limit',
  'The organization has reached the limit of open invitations: {limit}. Delete one first.',
)
export const invitationAccepted = failure(
  'invitation_accepted',
  'The invitation was accepted: the person has the identity {identityId}. Block or delete that identity to end their access.',
)
