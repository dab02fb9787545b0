import { StoreUnavailable } from '../db/failures.ts'
import { sweepAfter } from '../doomed-objects/sweep.ts'
import { endpoint } from '../http/endpoint.ts'
import { Refusal } from '../http/errors.ts'
import { deleteProfilePictureContract } from './contract.ts'
import { doomPicture, explainPicture, unlinkPicture } from './statements.ts'

export const deleteProfilePicture = endpoint(
  deleteProfilePictureContract,
  async ({ params: { userId } }, call) => {
    const [explanation, , [unlinked]] = await call.run(explainPicture, [doomPicture, unlinkPicture], {
      userId,
      sweepAfter: sweepAfter(new Date(call.now)),
    })
    if (!unlinked) {
      if (!explanation.userExists) throw new Refusal(404, 'userId: there is no user with this id')
      if (!explanation.isOwn) throw new Refusal(403, 'userId: you can delete your own profile picture only')
      if (explanation.isUploading)
        throw new Refusal(409, 'An upload of a new picture is under way: try again when it is done')
    }
    if (unlinked?.objectKey) await deleteObject(call.objects, unlinked.objectKey)
    return { body: { userId, deleted: true as const } }
  },
)

/** Frees the object at once. If it fails, the picture is unlinked all the same, and the sweep deletes the object later. */
async function deleteObject(objects: R2Bucket, key: string): Promise<void> {
  try {
    await objects.delete(key)
  } catch (error) {
    throw new StoreUnavailable('The object store did not delete an object', { cause: error })
  }
}
