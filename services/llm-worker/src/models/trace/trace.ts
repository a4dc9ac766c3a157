import { ErrorInfo, Usage } from '@mcp-host/contracts'
import { z } from 'zod'
import type { ModelRequest, StreamPart } from '../../model.ts'

const ProviderMetadata = z.record(z.string(), z.record(z.string(), z.unknown()))

/** Mirrors `StreamPart`. */
const TracedPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text-delta'), text: z.string() }),
  z.object({ type: z.literal('reasoning-delta'), text: z.string() }),
  z.object({ type: z.literal('relabel'), kind: z.enum(['text', 'reasoning']) }),
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

/** One recorded answer of a model: a line of the file. */
export const TracedAnswer = z.object({
  /** The key of the question, from `askedFor`. */
  asked: z.string(),
  provider: z.string(),
  model: z.string(),
  contextWindow: z.number().int().positive().optional(),
  /** Each part with the milliseconds since the request. */
  parts: z.array(z.tuple([z.number().nonnegative(), TracedPart])),
  /** The failure that ended the answer. */
  error: ErrorInfo.optional(),
})
export type TracedAnswer = z.infer<typeof TracedAnswer>

/**
 * The key by which a recorded answer is found: the messages of the user, and the number of answers since the last one.
 * Results of tools are left out, since they may differ.
 */
export function askedFor({ messages }: Pick<ModelRequest, 'messages'>): string {
  const said = messages.flatMap((each) => (each.role === 'user' ? each.text : []))
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const rounds = messages.slice(last).filter(({ role }) => role === 'assistant').length
  return JSON.stringify([...said, rounds])
}
