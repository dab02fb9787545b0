import { authorized } from '../../access/preconditions.ts'
import { one } from '../../access/request-context.ts'
import { BRAKES } from '../../brakes.ts'
import { endpoint } from '../../http/endpoint.ts'
import { retrieveMeContract } from './contract.ts'
import { selectMe } from './statements.ts'

export const retrieveMe = endpoint(retrieveMeContract, async (_, context) => {
  const { me } = await context.run(authorized, { me: one(selectMe) }, {})
  const { organizationId, organizationName, userId, userName, id, name, kind, expiresAt, identityId } = me
  const stopped: { readonly [What in (typeof BRAKES)[number]]?: string } = {
    ...JSON.parse(me.stoppedHere),
    ...JSON.parse(me.stoppedForAll),
  }
  return {
    body: {
      organization: { id: organizationId, name: organizationName },
      user: userId === null ? null : { id: userId, name: userName ?? '' },
      apiKey: {
        id,
        name,
        kind,
        scopes: JSON.parse(me.scopes),
        projectIds: me.projectIds === null ? null : JSON.parse(me.projectIds),
        expiresAt,
        identityId,
      },
      stopped: BRAKES.flatMap((what) => (stopped[what] === undefined ? [] : [{ what, since: stopped[what] }])),
    },
  }
})
