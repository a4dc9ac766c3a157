import type { CallToolResult } from '@modelcontextprotocol/client'

import type { MCPHost } from './host.ts'
import type { CallToolOptions, HostTool } from '@mcp-host/upstream'
import { portableSchema } from '@mcp-host/json'
import { isForAppsOnly, safeToolNames } from '@mcp-host/mcp'

/** A tool as `generateText`, `streamText` and the agents of the AI SDK take it. */
export interface AiSdkTool {
  /** Marks a tool whose arguments and results have no static type. */
  readonly type: 'dynamic'
  readonly title?: string
  readonly description?: string
  readonly inputSchema: AiSdkSchema
  readonly execute: (input: unknown, options: AiSdkCall) => Promise<CallToolResult>
  readonly toModelOutput: (result: { readonly output: CallToolResult }) => AiSdkOutput
}

/** The options of a call that the AI SDK passes on. */
export interface AiSdkCall {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal | undefined
}

/** A Standard Schema, which the AI SDK accepts. */
export interface AiSdkSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => { readonly value: unknown }
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>
      readonly output: () => Record<string, unknown>
    }
  }
}

/** A result as the AI SDK gives it to a model. */
export type AiSdkOutput =
  | { readonly type: 'error-text'; readonly value: string }
  | { readonly type: 'content'; readonly value: AiSdkPart[] }

export type AiSdkPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file'
      readonly mediaType: string
      readonly data: { readonly type: 'data'; readonly data: string }
    }

export interface AiSdkOptions {
  /** Chooses the tools; default: all. */
  readonly filter?: (tool: HostTool) => boolean
  /** Called with each tool that is left out because no model can take the schema of its arguments, and the reason. */
  readonly onLeftOut?: (tool: HostTool, reason: string) => void
  /** Options of every call. The AI SDK provides `signal`, and `requestId` is its id of the call. */
  readonly call?: Omit<CallToolOptions, 'signal' | 'requestId'>
}

/**
 * The tools of all ready servers for the AI SDK, version 7, under names that every provider accepts. Tools only for
 * apps are left out. The result is a snapshot: request it again for the next request to a model.
 */
export function toAiSdkTools(
  host: Pick<MCPHost, 'getTools' | 'callTool'>,
  { filter = () => true, onLeftOut, call = {} }: AiSdkOptions = {},
): Record<string, AiSdkTool> {
  const tools = host.getTools().filter((tool) => !isForAppsOnly(tool) && filter(tool))
  const named = new Map<string, AiSdkTool>()
  for (const [name, tool] of safeToolNames(tools)) {
    let inputSchema: AiSdkSchema
    try {
      inputSchema = toSchema(portableSchema(tool.inputSchema))
    } catch (error) {
      onLeftOut?.(tool, error instanceof Error ? error.message : String(error))
      continue
    }
    named.set(name, {
      type: 'dynamic',
      ...(tool.title === undefined ? {} : { title: tool.title }),
      ...(tool.description === undefined ? {} : { description: tool.description }),
      inputSchema,
      execute: (input, { toolCallId, abortSignal }) => {
        // `callTool` checks the arguments. A model may leave them out when it gives none.
        const args = (input ?? {}) as Record<string, unknown>
        return host.callTool(tool, args, { ...call, requestId: toolCallId, signal: abortSignal })
      },
      toModelOutput: ({ output }) => toModelOutput(output),
    })
  }
  return Object.fromEntries(named)
}

function toSchema(jsonSchema: Record<string, unknown>): AiSdkSchema {
  const own = {
    // Marks the schema as the AI SDK's own. The AI SDK would forbid further properties in a Standard Schema.
    [Symbol.for('vercel.ai.schema')]: true,
    jsonSchema,
    validate: undefined,
  }
  return {
    ...own,
    '~standard': {
      version: 1,
      vendor: 'mcp-host',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  }
}

function toModelOutput({ content, structuredContent, isError }: CallToolResult): AiSdkOutput {
  const parts = content.length > 0 ? content.map(toPart) : [toPart(structuredContent ?? {})]
  if (isError !== true) return { type: 'content', value: parts }
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return { type: 'error-text', value: texts.join('\n') }
}

function toPart(part: object): AiSdkPart {
  const { type, text, data, mimeType } = part as Readonly<Record<string, unknown>>
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  const isMedia = type === 'image' || type === 'audio'
  if (isMedia && typeof data === 'string' && typeof mimeType === 'string') {
    return { type: 'file', mediaType: mimeType, data: { type: 'data', data } }
  }
  return { type: 'text', text: JSON.stringify(part) }
}
