import { z } from 'zod'
import { failureIn } from '../definition/provider-failure.ts'
import type { CallIndexes } from './call-indexes.ts'

const text = z.string().nullish().catch(undefined)
const count = z.number().nullish().catch(undefined)

const Call = z.looseObject({
  index: z.coerce.number().int().optional().catch(undefined),
  id: z.coerce.string().nullish().catch(undefined),
  function: z
    .looseObject({
      // An empty name comes before the name. The package would drop the call.
      name: text.transform((name) => (name?.trim() === '' ? undefined : name)),
      arguments: z
        .unknown()
        .transform((given) =>
          given == null || typeof given === 'string' ? given : JSON.stringify(given),
        )
        .optional(),
    })
    .catch({ name: undefined, arguments: undefined }),
})

const Delta = z.looseObject({
  role: z.enum(['assistant', '']).optional().catch(undefined),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string() }))])
    .nullish()
    .catch(undefined),
  reasoning_content: text,
  reasoning: text,
  tool_calls: z
    .preprocess(
      (given) => (given == null || Array.isArray(given) ? given : [given]),
      z.array(Call).nullish(),
    )
    .catch(undefined),
})

/** A piece of an answer, as the package reads it. Fields that are unknown or of another type are left out. */
const Chunk = z.looseObject({
  id: text,
  created: count,
  model: text,
  choices: z.array(
    z.looseObject({
      delta: Delta.nullish().catch(undefined),
      finish_reason: text.transform((reason) => (reason === '' ? undefined : reason)),
    }),
  ),
  usage: z
    .looseObject({
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      prompt_tokens_details: z.looseObject({ cached_tokens: count }).nullish().catch(undefined),
      completion_tokens_details: z
        .looseObject({ reasoning_tokens: count })
        .nullish()
        .catch(undefined),
    })
    .nullish()
    .catch(undefined),
})

/**
 * An event of a server that copies OpenAI's chat completions loosely, as the package reads it; `undefined` for one that
 * is no piece of an answer.
 */
export function repairChunk(event: object, indexes: CallIndexes): object | undefined {
  if (failureIn(event) !== undefined) return event
  const isUsage = 'usage' in event && !('choices' in event)
  const chunk = Chunk.safeParse(isUsage ? { ...event, choices: [] } : event).data
  for (const { delta } of chunk?.choices ?? []) {
    if (delta?.tool_calls == null) continue
    delta.tool_calls = delta.tool_calls.map((call) => indexes.place(call))
  }
  return chunk
}
