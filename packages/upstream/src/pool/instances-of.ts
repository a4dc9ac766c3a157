import type { ServerConfig, StdioInstance } from '../server-config.ts'

export interface Instance {
  /** The configuration of a server with this instance alone. */
  readonly config: ServerConfig
  readonly weight: number
}

/** The instances of a server, in their order; `undefined` without any. */
export function instancesOf(server: ServerConfig): readonly Instance[] | undefined {
  if (server.instances === undefined) return undefined
  if (server.type === 'stdio') {
    const { instances = 1, balance: _, ...shared } = server
    const alike = (count: number): StdioInstance[] => Array.from({ length: count }, () => ({}))
    const list = typeof instances === 'number' ? alike(instances) : instances
    return list.map(({ weight = 1, env, ...rest }) => {
      return { weight, config: { ...shared, ...rest, env: { ...shared.env, ...env } } }
    })
  }
  const { instances = [], balance: _, ...shared } = server
  return instances.map(({ weight = 1, headers = {}, ...rest }) => {
    const config = { ...shared, ...rest, headers: mergeHeaders(shared.headers, headers) }
    return { weight, config }
  })
}

/** Merges headers, whose names are case-insensitive. */
function mergeHeaders(
  shared: Readonly<Record<string, string>>,
  specific: Readonly<Record<string, string>>,
): Record<string, string> {
  const replaced = new Set(Object.keys(specific).map((name) => name.toLowerCase()))
  const others = Object.entries(shared).filter(([name]) => !replaced.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...specific }
}
