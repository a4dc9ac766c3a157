import { readFileSync } from 'node:fs'
import { gatewaySettings } from '@mcp-host/gateway/config'
import { supervisorSettings } from '@mcp-host/mcp-supervisor/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import type { Settings } from '@mcp-host/service'
import { baseSettings, loadConfig } from '@mcp-host/service'
import { decodeText } from '@mcp-host/json'
import { childEnvironment } from '@mcp-host/process'
import type { Env } from './read-env.ts'
import type { ServiceName } from './service-process.ts'

const SYSTEM = ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR', 'NODE_EXTRA_CA_CERTS']

/**
 * The environment of a service: only its own settings, so that other services' secrets stay away. The supervisor also
 * gets what every MCP server inherits, and the variables that `mcp.json` names. The worker gets the whole environment,
 * since llm.json may name any variable, and the worker runs no foreign programs.
 */
export function serviceEnvironment(service: ServiceName, env: Env): Env {
  if (service === 'llm-worker') return env
  if (service === 'gateway') return pick(env, namesOf(gatewaySettings))
  if (service === 'orchestrator') return pick(env, namesOf(orchestratorSettings))
  const { mcpJsonPath } = loadConfig({ mcpJsonPath: supervisorSettings.mcpJsonPath }, env)
  const named = namedVariables(mcpJsonPath, env)
  return { ...childEnvironment(env, {}), ...pick(env, [...namesOf(supervisorSettings), ...named]) }
}

function namesOf(settings: Settings): string[] {
  const all = [...Object.values(baseSettings), ...Object.values(settings)]
  return [...SYSTEM, ...all.flatMap(({ env, aliases = [] }) => [env, ...aliases])]
}

function pick(env: Env, names: readonly string[]): Env {
  return Object.fromEntries(names.map((each) => [each, env[each]]))
}

/** The variables whose names a file contains, in whatever syntax; none when it cannot be read. */
function namedVariables(file: string, env: Env): string[] {
  try {
    const text = decodeText(readFileSync(file), { fatal: false })
    const words = new Set(text.match(/\w+/g))
    return Object.keys(env).filter((name) => words.has(name))
  } catch {
    // The supervisor reports a missing file.
    return []
  }
}
