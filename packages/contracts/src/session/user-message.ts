import { z } from 'zod'
import { defineEvent } from '../contract.ts'

export const UserMessage = z.object({
  /** The client's own id for the message; sending it again changes nothing. Unique in its session. */
  id: z.string(),
  text: z.string().min(1),
})
export type UserMessage = z.infer<typeof UserMessage>

/** A user wrote something. Once this is in the log the message is accepted. */
export const userMessage = defineEvent('s.{shard}.{session}.in.msg', {
  durability: 'log',
  payload: UserMessage,
})
