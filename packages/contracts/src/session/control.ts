import { z } from 'zod'
import { defineEvent } from '../contract.ts'

/** What a field of a form may hold. */
export const InputValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])

/** A user's answer to a question of an MCP server. The first one after the question counts. */
export const InputAnswered = z.object({
  type: z.literal('input-answered'),
  /** Of the question. */
  id: z.string(),
  /** `decline`: the user said no; `cancel`: the user did not want to choose. */
  action: z.enum(['accept', 'decline', 'cancel']),
  /** The fields of the form, by their names. Checked by the gateway that took the answer. */
  content: z.record(z.string(), InputValue).optional(),
})
export type InputAnswered = z.infer<typeof InputAnswered>

export const ControlFact = z.discriminatedUnion('type', [InputAnswered])
export type ControlFact = z.infer<typeof ControlFact>

/** What users say to what is running, other than messages: it begins no turn. */
export const controlFact = defineEvent('s.{shard}.{session}.in.ctl', {
  durability: 'log',
  payload: ControlFact,
})
