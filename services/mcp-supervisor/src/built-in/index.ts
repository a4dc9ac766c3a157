import { VERSION } from '@mcp-host/service'
import type { ServeBuiltIn } from '@mcp-host/upstream'
import { hostModels } from './host-models.ts'

/** The servers that the host has itself. Their code is loaded with the first entry that names them. */
export function builtInServers(deps: Parameters<typeof hostModels>[0]): ServeBuiltIn {
  const models = hostModels(deps)
  return ({ builtIn }) => {
    if (builtIn !== 'llm') throw new Error(`this host has no built-in server "${builtIn}"`)
    return async (transport) => {
      const { createLlmServer } = await import('@mcp-host/built-in/llm')
      await createLlmServer(models, VERSION).connect(transport)
    }
  }
}
