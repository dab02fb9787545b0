/** What responses say of an attempt to deliver a webhook. */
import * as z from 'zod/mini'
import { docs, instant } from '../http/fields.ts'

export const deliveryAttempt = z
  .strictObject({
    startedAt: instant(),
    status: z
      .nullable(z.int())
      .register(docs, { description: 'The HTTP status of the response; null if there was none.' }),
    milliseconds: z
      .int()
      .check(z.minimum(0))
      .register(docs, { description: 'How long the response took, or how long the attempt lasted without one.' }),
    error: z
      .nullable(z.string())
      .register(docs, { description: 'Why the attempt failed; null if the receiver accepted it.' }),
  })
  .register(docs, { id: 'DeliveryAttempt' })

export type DeliveryAttempt = z.output<typeof deliveryAttempt>
