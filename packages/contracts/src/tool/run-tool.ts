import { z } from 'zod'
import { JsonObject } from '../json-value.ts'
import { defineCall } from '../contract.ts'
import { SessionId, ToolCallId } from '../ids.ts'
import { RequestOptions } from './request-options.ts'

export const RunToolRequest = z.object({
  session: SessionId,
  call: ToolCallId,
  /** Counts from 1. The first start of an attempt in the log runs. */
  attempt: z.number().int().positive(),
  tool: z.string(),
  arguments: JsonObject,
  /** Log sequence of the generation's result; the facts of the call come after it. */
  after: z.number().int().nonnegative(),
  options: RequestOptions.optional(),
})
export type RunToolRequest = z.infer<typeof RunToolRequest>

/**
 * Runs a tool for a turn. The answer says only that a supervisor accepted it: start and result are facts in
 * the log of the session.
 */
export const runTool = defineCall('tool.{server}.run', {
  from: ['orchestrator'],
  to: ['mcp-supervisor'],
  answeredBy: 'group',
  request: RunToolRequest,
  reply: z.object({ supervisor: z.string() }),
})
