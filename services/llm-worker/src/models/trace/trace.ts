import { ErrorInfo, Usage } from '@mcp-host/contracts'
import { z } from 'zod'
import type { ModelRequest, StreamPart } from '../../model.ts'

const ProviderMetadata = z.record(z.string(), z.record(z.string(), z.unknown()))

/** As `StreamPart`. */
const TracedPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text-delta'), text: z.string() }),
  z.object({ type: z.literal('reasoning-delta'), text: z.string() }),
  z.object({ type: z.literal('block-end'), providerMetadata: ProviderMetadata.exactOptional() }),
  z.object({
    type: z.literal('tool-call'),
    name: z.string(),
    arguments: z.string(),
    providerMetadata: ProviderMetadata.exactOptional(),
  }),
  z.object({ type: z.literal('end'), usage: Usage.exactOptional() }),
  z.object({ type: z.literal('progress') }),
  z.object({ type: z.literal('notice'), text: z.string() }),
  z.object({ type: z.literal('answering'), provider: z.string(), model: z.string() }),
]) satisfies z.ZodType<StreamPart>

/** One answer of a model, as it was given: a line of the file. */
export const TracedAnswer = z.object({
  /** What it answers: see `askedFor`. */
  asked: z.string(),
  provider: z.string(),
  model: z.string(),
  contextWindow: z.number().int().positive().optional(),
  /** Each with the milliseconds after which it came. */
  parts: z.array(z.tuple([z.number().nonnegative(), TracedPart])),
  /** How it failed after them. */
  error: ErrorInfo.optional(),
})
export type TracedAnswer = z.infer<typeof TracedAnswer>

/**
 * By what an answer is found again: what the user has said so far, and how often the model was asked since.
 * What tools returned may differ from time to time.
 */
export function askedFor({ messages }: Pick<ModelRequest, 'messages'>): string {
  const said = messages.flatMap((each) => (each.role === 'user' ? each.text : []))
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const rounds = messages.slice(last).filter(({ role }) => role === 'assistant').length
  return JSON.stringify([...said, rounds])
}
