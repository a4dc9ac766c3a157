import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { GenerationId } from '../ids.ts'
import { Usage } from './content.ts'

const TextContent = z.object({ type: z.literal('text'), text: z.string() })

/** Hints, the strongest first, and weights of qualities from 0 to 1. */
const ModelPreferences = z.object({
  hints: z.array(z.object({ name: z.string().optional() })).optional(),
  costPriority: z.number().min(0).max(1).optional(),
  speedPriority: z.number().min(0).max(1).optional(),
  intelligencePriority: z.number().min(0).max(1).optional(),
})

/** A request for one reply outside of a turn's generations. Its deadline is the envelope's. */
export const SampleRequest = z.object({
  /** The model that must answer, as `provider/model` or `provider`. Default: that of the worker, or one in its place. */
  model: z.string().max(300).optional(),
  /** The id for cancellation by `generationControl`. */
  id: GenerationId.optional(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: TextContent })).min(1),
  systemPrompt: z.string().optional(),
  maxTokens: z.number().int().positive(),
  temperature: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  modelPreferences: ModelPreferences.optional(),
})
export type SampleRequest = z.infer<typeof SampleRequest>

export const SampleReply = z.object({
  model: z.string(),
  provider: z.string().optional(),
  usage: Usage.optional(),
  role: z.literal('assistant'),
  content: TextContent,
  stopReason: z.enum(['endTurn', 'maxTokens', 'stopSequence']),
})
export type SampleReply = z.infer<typeof SampleReply>

/** Asks any worker for one whole reply, for a sampling request of an MCP server or for a summary. */
export const sample = defineCall('llm.sample', {
  from: ['orchestrator', 'mcp-supervisor'],
  to: ['llm-worker'],
  answeredBy: 'group',
  request: SampleRequest,
  reply: SampleReply,
})
