import { expect } from 'vitest'

import type { ConfigFault } from '../src/document/configuration-error.ts'
import type { McpConfig } from '../src/mcp-config.ts'
import { parseMcpConfig } from '../src/parse-mcp-config.ts'

export const FILE = '/etc/host/config.yaml'
export const BYPASS = 'auth_strategy: bypass_auth'
export const lines = (...text: string[]): string => text.join('\n')

/** A file of Master MCP Server whose third line is an entry. */
export const server = (fields: string, ...others: string[]): string =>
  lines('hosting: { platform: node }', 'servers:', `  - { id: a, ${fields} }`, ...others)

interface MasterConfig {
  readonly servers: McpConfig['servers']
  /** Faults of servers, each as `line:column path: message`. */
  readonly faults: readonly string[]
  /** Warnings in the same form, without that about `hosting`. */
  readonly warnings: readonly string[]
}

/** Reads a file of Master MCP Server. */
export function readMaster(
  text: string,
  variables: Readonly<Record<string, string>> = {
    ID: 'host',
    SECRET: 'top',
    URL: 'https://u.example',
  },
): MasterConfig {
  const warnings: ConfigFault[] = []
  const { servers, faulty = {} } = parseMcpConfig(text, {
    file: FILE,
    variables,
    onWarning: (warning) => warnings.push(warning),
  })
  const faults = Object.values(faulty).flat()
  for (const { remedy } of [...warnings, ...faults]) expect(remedy).toMatch(/\w.*\.$/)
  const others = warnings.filter(({ path }) => path !== 'hosting')
  return { servers, faults: faults.map(showFault), warnings: others.map(showFault) }
}

export const showFault = ({ line, column, path, message }: ConfigFault): string =>
  `${line}:${column} ${path}: ${message}`
