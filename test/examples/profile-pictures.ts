import { request } from '../support/api.ts'
import { type EventsOf, ifNoneMatchVariations, inAnHour, noEvents, type Row, type Rows } from '../support/example.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])

const recorded =
  (type: 'profile-picture.set' | 'profile-picture.deleted'): EventsOf =>
  ({ path, ids: [id = ''] }) => [{ type, path, id }]

const isOfOtherUser: Row['variations'] = {
  'it is the picture of another user': {
    status: 403,
    async apply(workspace, example) {
      const userId = await workspace.addUser()
      await workspace.addPicture(userId)
      return { ...example, path: `/v1/users/${userId}/profile-picture`, ids: [userId] }
    },
  },
}

export const profilePictureRows: Rows = {
  deleteProfilePicture: {
    async prepare(workspace) {
      await workspace.addPicture()
      return { path: `/v1/users/${workspace.userId}/profile-picture`, ids: [workspace.userId] }
    },
    events: recorded('profile-picture.deleted'),
    variations: {
      'there is no picture': {
        idle: true,
        events: noEvents,
        async apply(workspace, example) {
          await request('DELETE', example.path, { key: await workspace.addKey() })
          return example
        },
      },
      'an upload has failed': {
        async apply(workspace, example) {
          await workspace.leasePicture(new Date(0).toISOString())
          return example
        },
      },
      'an upload is in progress': {
        status: 409,
        async apply(workspace, example) {
          await workspace.leasePicture(inAnHour())
          return example
        },
      },
      ...isOfOtherUser,
    },
  },

  putProfilePicture: {
    async prepare(workspace) {
      return { path: `/v1/users/${workspace.userId}/profile-picture`, body: PNG, ids: [workspace.userId] }
    },
    isOfCaller: true,
    calls: 2,
    events: recorded('profile-picture.set'),
    variations: {
      'there is a picture': {
        exists: true,
        async apply(workspace, example) {
          await workspace.addPicture()
          return example
        },
      },
      ...isOfOtherUser,
    },
  },

  retrieveProfilePicture: {
    async prepare(workspace) {
      await workspace.addPicture()
      return { path: `/v1/users/${workspace.userId}/profile-picture`, ids: [workspace.userId] }
    },
    variations: {
      ...ifNoneMatchVariations,
      'the user has no picture': {
        status: 404,
        async apply(workspace, example) {
          const userId = await workspace.addUser()
          return { ...example, path: `/v1/users/${userId}/profile-picture`, ids: [userId] }
        },
      },
    },
  },
}
