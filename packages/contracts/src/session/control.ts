import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { SettingsChange } from './session-settings.ts'

/** A value of a form field. */
export const InputValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])

/** A user's answer to a question of an MCP server or of the host. The first one after the question counts. */
export const InputAnswered = z.object({
  type: z.literal('input-answered'),
  /** The question's id. */
  id: z.string(),
  /** `decline`: the user said no; `cancel`: the user did not want to choose. Of an approval both mean no. */
  action: z.enum(['accept', 'decline', 'cancel']),
  /** The fields of the form, by their names. Checked by the gateway that took the answer. */
  content: z.record(z.string(), InputValue).optional(),
})
export type InputAnswered = z.infer<typeof InputAnswered>

/** A user wants a turn to end, whether it runs or waits in the queue. */
export const CancelRequested = z.object({
  type: z.literal('cancel-requested'),
  /** The user message's id; without it, the turn that runs or is next. */
  messageId: z.string().optional(),
})

/** The model of later messages that name none. */
export const ModelChosen = z.object({
  type: z.literal('model-chosen'),
  /** As `provider/model` or `provider`; without it the one that answers by default. */
  model: z.string().optional(),
})

/** Holds for all steps of turns that begin after this. */
export const SettingsChosen = SettingsChange.extend({ type: z.literal('settings-chosen') })

/** The session is deleted: no work goes on in it, and its log is about to be erased. */
export const SessionDeleted = z.object({ type: z.literal('session-deleted') })

export const ControlFact = z.discriminatedUnion('type', [
  InputAnswered,
  CancelRequested,
  ModelChosen,
  SettingsChosen,
  SessionDeleted,
])
export type ControlFact = z.infer<typeof ControlFact>

/**
 * Stores an instruction about what runs: a cancel, an answer to a question, chosen settings, deletion. It begins no turn.
 */
export const controlFact = defineEvent('s.{shard}.{session}.in.ctl', {
  from: ['gateway', 'orchestrator'],
  to: ['orchestrator', 'gateway', 'mcp-supervisor'],
  durability: 'log',
  payload: ControlFact,
})
