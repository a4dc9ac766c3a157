import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { ToolCallId } from '../ids.ts'

export const ToolProgress = z.object({
  call: ToolCallId,
  server: z.string(),
  tool: z.string(),
  /** Rises with each report. */
  progress: z.number(),
  /** The value of `progress` at the end, if it is known. */
  total: z.number().optional(),
  message: z.string().optional(),
})
export type ToolProgress = z.infer<typeof ToolProgress>

/** Sends the latest progress of a running tool call, at most a few times a second. May be lost. */
export const toolProgress = defineEvent('live.d.{shard}.{session}.progress', {
  from: ['mcp-supervisor'],
  to: ['gateway'],
  durability: 'live',
  payload: ToolProgress,
})
