import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { Attachment } from '../model/media.ts'

export const UserMessage = z.object({
  /** The client's own id for the message; sending it again changes nothing. Unique in its session. */
  id: z.string(),
  text: z.string().min(1),
  /**
   * Id of an earlier message in whose place this one stands: with it another branch of the conversation
   * begins, beside that message and all that followed it. What was said from there on and is not answered yet is cancelled.
   */
  replaces: z.string().optional(),
  /** The model for it, as `provider/model` or `provider`; without it the session's. */
  model: z.string().optional(),
  /** Its attachments. */
  attachments: z.array(Attachment).optional(),
})
export type UserMessage = z.infer<typeof UserMessage>

/** Stores a message of the user; a stored message is accepted. */
export const userMessage = defineEvent('s.{shard}.{session}.in.msg', {
  from: ['gateway'],
  to: ['orchestrator'],
  durability: 'log',
  payload: UserMessage,
})
