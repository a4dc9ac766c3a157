import { Priority, RetryOptions } from '@mcp-host/contracts'
import { z } from 'zod'
import { jsonAnswer } from '../../edge/api.ts'
import { ContentBlocks } from '../../projection/answer-parts.ts'
import { RestErrorReply } from './rest-fault.ts'

/** No caller waits longer. */
export const MAX_TIMEOUT_MS = 3_600_000

const timeoutMs = z
  .number()
  .int()
  .min(1)
  .max(MAX_TIMEOUT_MS)
  .optional()
  .describe(
    'How long you wait, in milliseconds; then the request is cancelled at its server (504). Servers have limits of their own.',
  )

/** Options that every request to a server has. */
const handling = {
  timeoutMs,
  priority: Priority.optional().describe(
    'Who goes first where the server has as many requests as it may have; default `normal`.',
  ),
  retry: RetryOptions.optional().describe(
    'How it is tried again. What may have begun is not, unless its server or you say so.',
  ),
}

export const ListBody = z
  .object({
    cursor: z
      .string()
      .optional()
      .describe('`nextCursor` of the page before; without it the first.'),
  })
  .prefault({})

export const CallBody = z.object({
  name: z.string().min(1).describe('Of the tool, as it is listed: `server__tool`.'),
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("As the tool's `inputSchema` has them."),
  ...handling,
})
export type CallBody = z.infer<typeof CallBody>

export const PromptBody = z.object({
  name: z.string().min(1).describe('Of the prompt, as it is listed: `server__prompt`.'),
  arguments: z
    .record(z.string(), z.string())
    .optional()
    .describe('As the prompt lists them; all are texts.'),
  ...handling,
})
export type PromptBody = z.infer<typeof PromptBody>

export const ReadBody = z.object({
  uri: z.string().min(1).describe('As it is listed, or made of a template.'),
  ...handling,
})
export type ReadBody = z.infer<typeof ReadBody>

const nextCursor = z.string().optional().describe('`cursor` of the next page; absent on the last.')

const listed = (what: string, field: string): z.ZodType =>
  z.object({
    [field]: z.array(z.looseObject({})).describe(`As MCP has them: ${what}.`),
    nextCursor,
  })

export const LISTS = {
  tools: listed('`name`, `description`, `inputSchema` and more', 'tools'),
  prompts: listed('`name`, `description`, `arguments` and more', 'prompts'),
  resources: listed('`uri`, `name`, `mimeType` and more', 'resources'),
  resourceTemplates: listed('`uriTemplate`, `name` and more', 'resourceTemplates'),
}

export const ToolResult = z
  .looseObject({
    content: ContentBlocks,
    structuredContent: z.unknown().optional().describe("As the tool's `outputSchema` has it."),
    isError: z.boolean().optional().describe('Whether the tool failed; `content` says how.'),
  })
  .meta({ id: 'ToolResult', description: 'What a tool answered, as MCP has it.' })

export const PromptResult = z
  .looseObject({
    description: z.string().optional().describe('Of the prompt.'),
    messages: z
      .array(
        z.looseObject({
          role: z.string().describe('`user` or `assistant`.'),
          content: z.unknown().describe('A content block.'),
        }),
      )
      .describe('What it says.'),
  })
  .meta({ id: 'PromptResult', description: 'A prompt, as MCP has it.' })

export const ReadResult = z
  .looseObject({
    contents: z
      .array(z.looseObject({ uri: z.string().describe('Of the part, as its server calls it.') }))
      .describe('Its parts, with `mimeType` and `text` or, in Base64, `blob`.'),
  })
  .meta({ id: 'ReadResult', description: 'What a resource has, as MCP has it.' })

const FAULTS = {
  400: 'Something in the request is not valid; `field` names it.',
  403: 'A page of this origin, or a host of this name, is not served; see `ALLOWED_ORIGINS`. With the `reason` `approval-required` the tool runs only when a user allows it; see `TOOL_APPROVAL`.',
  404: 'There is no such tool, prompt or resource.',
  413: 'The body is larger than 8 MB.',
  415: 'The body is not application/json.',
  500: 'A fault of the host; its log has more.',
  502: 'The MCP server failed: `upstream` is what it said. With the `reason` `unknown-outcome` it went away meanwhile.',
  503: 'The MCP server is not there, or not asked for `retryAfterMs` because it failed too often. Nothing was begun: try again after `Retry-After` seconds.',
  504: 'No answer in time, that of the server or `timeoutMs`: whether the request took effect is not known.',
} as const

type Fault = keyof typeof FAULTS
const TO_SERVERS: readonly Fault[] = [400, 403, 404, 413, 415, 500, 502, 503, 504]
const OF_LISTS: readonly Fault[] = [400, 403, 413, 415, 500, 503]

/** The answers of a route that refuses a request. */
export function restFaults(of: 'lists' | 'servers'): Record<number, ReturnType<typeof jsonAnswer>> {
  const all = of === 'lists' ? OF_LISTS : TO_SERVERS
  return Object.fromEntries(
    all.map((status) => [status, jsonAnswer(FAULTS[status], RestErrorReply)]),
  )
}
