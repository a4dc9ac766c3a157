import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { ToolCallId } from '../ids.ts'
import { SettingsChange } from './session-settings.ts'

/** A value of a form field. */
const InputValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])

/** A user's answer to a question of an MCP server or of the host. The first answer to a question counts. */
export const InputAnswered = z.object({
  type: z.literal('input-answered'),
  /** The question's id. */
  id: z.string(),
  /** `decline`: the user refused; `cancel`: the user did not choose. Both refuse an approval. */
  action: z.enum(['accept', 'decline', 'cancel']),
  /** The fields of the form, by their names. Checked by the gateway that received the answer. */
  content: z.record(z.string(), InputValue).optional(),
})
export type InputAnswered = z.infer<typeof InputAnswered>

/** A user cancelled a turn, which runs or waits in the queue. */
export const CancelRequested = z.object({
  type: z.literal('cancel-requested'),
  /** The user message's id; without it, the turn that runs or is next. */
  messageId: z.string().optional(),
})

/** A user stopped one tool call. Its turn goes on. */
export const CallCancelRequested = z.object({
  type: z.literal('call-cancel-requested'),
  call: ToolCallId,
})

/** The model of later messages that name none. */
const ModelChosen = z.object({
  type: z.literal('model-chosen'),
  /** As `provider/model` or `provider`; absent for the default model. */
  model: z.string().optional(),
})

/** Settings of the session, which count from the next step of a turn. */
const SettingsChosen = SettingsChange.extend({ type: z.literal('settings-chosen') })

/** The session is deleted: its work ends, and its log will be erased. */
const SessionDeleted = z.object({ type: z.literal('session-deleted') })

export const ControlFact = z.discriminatedUnion('type', [
  InputAnswered,
  CancelRequested,
  CallCancelRequested,
  ModelChosen,
  SettingsChosen,
  SessionDeleted,
])
export type ControlFact = z.infer<typeof ControlFact>

/** Stores an instruction that begins no turn: a cancel, an answer to a question, chosen settings, deletion. */
export const controlFact = defineEvent('s.{shard}.{session}.in.ctl', {
  from: ['gateway', 'orchestrator'],
  to: ['orchestrator', 'gateway', 'mcp-supervisor'],
  durability: 'log',
  payload: ControlFact,
})
