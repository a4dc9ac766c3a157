import { createLlmServer } from '@mcp-host/built-in'
import { VERSION } from '@mcp-host/service'
import type { ServeBuiltIn } from '@mcp-host/upstream'
import { hostModels } from './host-models.ts'

/** The servers that the host has itself. */
export function builtInServers(deps: Parameters<typeof hostModels>[0]): ServeBuiltIn {
  const models = hostModels(deps)
  return ({ builtIn }) => {
    if (builtIn === 'llm') return (transport) => createLlmServer(models, VERSION).connect(transport)
    throw new Error(`this host has no built-in server "${builtIn}"`)
  }
}
