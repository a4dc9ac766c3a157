import type { ServiceDeps } from '@mcp-host/service'
import { VERSION } from '@mcp-host/service'
import type { BuiltInServerConfig, ServeBuiltIn } from '@mcp-host/upstream'
import { fileRoots } from './file-roots.ts'
import { hostModels } from './host-models.ts'

type Connect = ReturnType<ServeBuiltIn>

type BuiltInServersDeps = Parameters<typeof hostModels>[0] & Pick<ServiceDeps, 'proxyFor'>

/** The servers that the host has itself. Their code is loaded with the first entry that names them. */
export function builtInServers({ proxyFor, ...deps }: BuiltInServersDeps): ServeBuiltIn {
  const models = hostModels(deps)
  const servers = new Map<string, (config: BuiltInServerConfig) => Connect>([
    [
      'files',
      (config) => async (transport) => {
        const { createFilesServer } = await import('@mcp-host/built-in/files')
        await createFilesServer({ roots: fileRoots(config) }, VERSION).connect(transport)
      },
    ],
    [
      'llm',
      () => async (transport) => {
        const { createLlmServer } = await import('@mcp-host/built-in/llm')
        await createLlmServer(models, VERSION).connect(transport)
      },
    ],
    [
      'web',
      ({ allowedOrigins = [], search }) =>
        async (transport) => {
          const { createWebServer } = await import('@mcp-host/built-in/web')
          const options = { allowedOrigins, proxyFor, ...(search && { search }) }
          await createWebServer(options, VERSION).connect(transport)
        },
    ],
  ])
  return (config) => {
    const connect = servers.get(config.builtIn)
    if (connect !== undefined) return connect(config)
    throw new Error(`this host has no built-in server "${config.builtIn}"`)
  }
}
