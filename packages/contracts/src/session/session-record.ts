import { z } from 'zod'
import { JsonObject } from '../json-value.ts'
import { SessionId } from '../ids.ts'
import { ModelUsage } from '../model/content.ts'
import { SessionSettings } from './session-settings.ts'

/** The record of a session outside of its log. Written by the orchestrators. */
export const SessionRecord = z.object({
  id: SessionId,
  /** The author of the first message. */
  owner: z.string(),
  title: z.string(),
  /** Whether a user chose the title. Otherwise it is the beginning of the first message. */
  isTitled: z.boolean(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** The time of the last message or turn. */
  updatedAt: z.number(),
  /** The user's choice for messages that name no model, as `provider/model` or `provider`. */
  model: z.string().optional(),
  /** The log sequence of that choice. */
  modelSeq: z.number().int().positive().optional(),
  ...SessionSettings.shape,
  /** The log sequence of the last change of settings. */
  settingsSeq: z.number().int().positive().optional(),
  /** Data of the caller, which the host does not read. */
  metadata: JsonObject.optional(),
  /** `running`: a turn of it runs; `waiting`: a question of it waits for a user; absent: no message is unanswered. */
  activity: z.enum(['running', 'waiting']).optional(),
  /** The number of user messages on all branches. */
  messages: z.number().int().nonnegative(),
  /** The number of tool calls of its models so far. Missing in records of earlier versions. */
  toolCallCount: z.number().int().nonnegative().optional(),
  /** The least number of entries of its log. With fewer, some were lost. */
  entries: z.number().int().nonnegative().optional(),
  /** Usage of all turns, by model. */
  usage: z.array(ModelUsage),
  /** `deleted`: the log is erased; the record stays for a while, so that the session is not created again. */
  state: z.enum(['active', 'deleted']),
  /** For a deleted session: whether it expired. */
  isExpired: z.boolean().optional(),
})
export type SessionRecord = z.infer<typeof SessionRecord>
