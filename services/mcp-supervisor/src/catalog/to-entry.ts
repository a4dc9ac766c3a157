import type { ServerEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import type { InstanceSnapshot, ServerConfig, ServerSnapshot } from 'mcp-host'
import { truncate } from '../truncate.ts'

/** A server as the catalog shows it. */
export function toEntry(
  supervisor: string,
  { type, scope = 'shared', placement = defaultPlacement(type) }: ServerConfig,
  { name, state, since, phase, error, pid, restarts, instances, era, ...told }: ServerSnapshot,
): ServerEntry {
  return {
    kind: 'server',
    server: ServerName.parse(name),
    supervisor,
    state,
    since,
    ...(phase === undefined ? {} : { phase }),
    ...why(error),
    type,
    scope,
    placement,
    ...(pid === undefined ? {} : { pid }),
    restarts,
    ...(instances === undefined ? {} : { instances: instances.map(toInstance) }),
    ...(era === undefined ? {} : { era }),
    ...listed(told),
  }
}

function toInstance({ error, ...instance }: InstanceSnapshot) {
  return { ...instance, ...why(error) }
}

function why(error: ServerSnapshot['error']): Pick<ServerEntry, 'error' | 'output'> {
  if (error === undefined) return {}
  const { reason, output } = error
  return { error: truncate(reason), ...(output.length === 0 ? {} : { output: [...output] }) }
}

/** A process may have state, so it runs once; what runs elsewhere takes as many clients as there are. */
export function defaultPlacement(type: ServerConfig['type']): 'one' | 'every' {
  return type === 'stdio' ? 'one' : 'every'
}

type Listed =
  | 'capabilities'
  | 'instructions'
  | 'tools'
  | 'prompts'
  | 'resources'
  | 'resourceTemplates'
  | 'caching'
  | 'announcedAt'

/** The server's own description: capabilities, instructions and lists. */
function listed({
  capabilities,
  instructions,
  tools,
  prompts,
  resources,
  resourceTemplates,
  caching,
  announcedAt,
}: Pick<ServerSnapshot, Listed>): Pick<ServerEntry, Listed> {
  const lists = { tools, prompts, resources, resourceTemplates, caching, announcedAt }
  const said = { capabilities, instructions, ...lists }
  // It came as JSON from the server.
  return said as Pick<ServerEntry, Listed>
}
