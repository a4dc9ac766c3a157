import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { APICallError } from '@ai-sdk/provider'
import type { OfferedTool } from '@mcp-host/contracts'
import { portableSchema } from './portable-schema.ts'

/** A tool that is not offered to the model. */
interface LeftOut {
  readonly tool: string
  readonly reason: string
}

/** Converts the offered tools for the SDK. `leftOut` has those that cannot be converted. */
export function toTools(offered: readonly OfferedTool[]): {
  tools: LanguageModelV4FunctionTool[]
  leftOut: LeftOut[]
} {
  const tools: LanguageModelV4FunctionTool[] = []
  const leftOut: LeftOut[] = []
  for (const { safeName, description, inputSchema } of offered) {
    try {
      tools.push({
        type: 'function',
        name: safeName,
        ...(description === undefined ? {} : { description }),
        inputSchema: portableSchema(inputSchema),
      })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      leftOut.push({ tool: safeName, reason })
    }
  }
  return { tools, leftOut }
}

/** Patterns by which providers name a tool in error texts: `tools.3.custom.name`, `function_declarations[3]`. */
const PLACE = /(?:tools|function_?declarations)(?:\[0\]\.function_?declarations)?[.[](\d+)/i

/** Whether a provider refused a request as invalid. */
export function isRefusal(error: unknown): error is APICallError {
  return APICallError.isInstance(error) && error.statusCode === 400
}

/** The tool that caused a provider's refusal, if the error names it. */
export function refusedTool<T extends { readonly name: string }>(
  error: unknown,
  tools: readonly T[],
): T | undefined {
  if (!isRefusal(error)) return undefined
  const says = error.responseBody ?? ''
  const [, place] = PLACE.exec(says) ?? []
  const named = tools.find(({ name }) => new RegExp(`\\b${name}\\b`).test(says))
  return named ?? (place === undefined ? undefined : tools[Number(place)])
}
