import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { OfferedTool } from '@mcp-host/contracts'
import { portableSchema } from '@mcp-host/json'

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
const PLACE = /(?:tools|function_?declarations)(?:\[0\]\.function_?declarations)?[.[](\d+)/gi
const WORDS = /[\w-]+/g

/** The tools that a provider's refusal names, each by its name or its place. */
export function namedTools<T extends { readonly name: string }>(
  says: string,
  tools: readonly T[],
): T[] {
  const words = new Set(says.match(WORDS))
  const named = tools.filter(({ name }) => words.has(name))
  if (named.length > 0) return named
  const places = new Set(Array.from(says.matchAll(PLACE), ([, place]) => Number(place)))
  return tools.filter((_, index) => places.has(index))
}
