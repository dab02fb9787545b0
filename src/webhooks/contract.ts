/** What responses say of an attempt to deliver a webhook. */
import * as z from 'zod/mini'
import { docs, instant } from '../http/fields.ts'

export const deliveryAttempt = z
  .strictObject({
    startedAt: instant(),
    status: z.nullable(z.int()).register(docs, { description: 'The HTTP status; null without a response.' }),
    milliseconds: z.int().check(z.minimum(0)),
    error: z.nullable(z.string()).register(docs, { description: 'Null after a 2xx.' }),
  })
  .register(docs, { id: 'DeliveryAttempt' })

export type DeliveryAttempt = z.output<typeof deliveryAttempt>
