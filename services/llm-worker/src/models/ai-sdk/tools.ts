import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { APICallError } from '@ai-sdk/provider'
import type { OfferedTool } from '@mcp-host/contracts'
import { portableSchema } from './portable-schema.ts'

/** A tool that the model is not told of. */
interface LeftOut {
  readonly tool: string
  readonly reason: string
}

/** The offered tools as the SDK wants them, and those of which it cannot be told. */
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

/** Where providers put a tool into their words: `tools.3.custom.name`, `function_declarations[3]`. */
const PLACE = /(?:tools|function_?declarations)(?:\[0\]\.function_?declarations)?[.[](\d+)/i

/** Whether a provider finds that a request as it stands makes no sense. */
export function isRefusal(error: unknown): error is APICallError {
  return APICallError.isInstance(error) && error.statusCode === 400
}

/** The tool because of which a provider refused a request, if it says so. */
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
