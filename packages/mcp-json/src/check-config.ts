import * as z from 'zod'

import { type ConfigFault, ConfigurationError } from './document/configuration-error.ts'
import { checkDependencies } from './check-dependencies.ts'
import { findContradiction } from './entries/find-contradiction.ts'
import { remedyOf, findProblems } from './document/find-problems.ts'
import { fieldPath } from './document/json-tree.ts'
import type { McpConfig } from './mcp-config.ts'
import type { ServerConfig } from '@mcp-host/upstream'
import { ENTRY_KINDS } from './entries/index.ts'
import { typesHint } from './server-kind.ts'
import { checkServerName } from './clients/server-name.ts'
import { isObject } from '@mcp-host/json'

const ANY_TYPE = z.object({
  type: z.enum(Object.keys(ENTRY_KINDS), { error: typesHint({ isInFile: false }) }),
})

const REMEDY = 'Give { servers: { name: { type: "stdio", … } } }.'

/** Checks a configuration object beyond its types. Throws `ConfigurationError`. */
export function checkConfig(config: McpConfig): void {
  // An untyped caller may pass anything.
  const { servers } = isObject(config) ? config : {}
  if (!isObject(servers)) {
    const message = servers === undefined ? 'is missing' : 'must be an object'
    throw new ConfigurationError([{ path: 'servers', message, remedy: REMEDY }])
  }
  const faults = Object.entries(servers).flatMap(([name, server]) => {
    const path = fieldPath('servers', name)
    const fault = checkServerName(name)
    return [...(fault === undefined ? [] : [{ path, ...fault }]), ...checkServer(server, path)]
  })
  const dependents = Object.entries(servers).map(([name, server]) => {
    const dependencies = isObject(server) ? server['dependencies'] : undefined
    return { name, dependencies: Array.isArray(dependencies) ? dependencies : [] }
  })
  for (const { name, index, message, remedy } of checkDependencies(dependents)) {
    faults.push({ path: `servers.${name}.dependencies[${index}]`, message, remedy })
  }
  if (faults.length > 0) throw new ConfigurationError(faults)
}

function checkServer(server: unknown, path: string): readonly ConfigFault[] {
  if (!isObject(server)) {
    return [{ path, message: 'must be an object', remedy: 'Give it a "type" and its settings.' }]
  }
  // Some compilers allow `undefined` for an optional field.
  const given = Object.fromEntries(
    Object.entries(server).filter(([, value]) => value !== undefined),
  )
  const type = isType(server['type']) ? server['type'] : undefined
  const schema = type === undefined ? ANY_TYPE : ENTRY_KINDS[type].object
  const examples = ENTRY_KINDS[type ?? 'stdio'].entry
  const faults = findProblems(schema, given).map(({ path: steps, message }) => ({
    path: steps.reduce<string>(fieldPath, path),
    message,
    remedy: remedyOf(schema, steps[0]) ?? remedyOf(examples, steps[0]) ?? 'Remove it.',
  }))
  const fault = findContradiction(given)
  if (fault === undefined) return faults
  const { field, ...rest } = fault
  return [...faults, { path: fieldPath(path, field), ...rest }]
}

function isType(type: unknown): type is ServerConfig['type'] {
  return typeof type === 'string' && Object.hasOwn(ENTRY_KINDS, type)
}
