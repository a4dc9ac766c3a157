import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { Attachment } from '../model/media.ts'

export const UserMessage = z.object({
  /** The client's id of the message, unique in its session; a repeated message changes nothing. */
  id: z.string(),
  /** May be empty in a message with attachments. */
  text: z.string(),
  /**
   * Id of an earlier message that this one replaces: another branch of the conversation begins in its place. Turns of
   * that message and of all later ones are cancelled unless they are done.
   */
  replaces: z.string().optional(),
  /** Id of the message that this one follows on its branch; absent: the newest message. Not with `replaces`. */
  follows: z.string().optional(),
  /** As `provider/model` or `provider`; absent for the model of the session. */
  model: z.string().optional(),
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
