import { type ConfigFault, ConfigurationError } from '../errors/configuration-error.ts'
import { fieldPath } from './json-tree.ts'
import type { McpConfig } from './mcp-config.ts'
import { checkServerName } from './server-name.ts'

/** What the compiler cannot see in a configuration given as an object. Throws `ConfigurationError`. */
export function checkConfig({ servers }: McpConfig): void {
  const faults = Object.keys(servers).flatMap((name): ConfigFault[] => {
    const fault = checkServerName(name)
    return fault === undefined ? [] : [{ path: fieldPath('servers', name), ...fault }]
  })
  if (faults.length > 0) throw new ConfigurationError(faults)
}
