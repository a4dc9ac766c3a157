import * as z from 'zod'

import { type ConfigFault, ConfigurationError } from './document/configuration-error.ts'
import { checkDependencies } from './check-dependencies.ts'
import { checkInstances } from './entries/check-instances.ts'
import { exampleOf, findProblems } from './document/find-problems.ts'
import { remoteInstances, stdioInstances } from './entries/instance-fields.ts'
import { fieldPath } from './document/json-tree.ts'
import type { McpConfig } from './mcp-config.ts'
import type {
  CommonServerConfig,
  RemoteServerConfig,
  ServerConfig,
  StdioServerConfig,
} from '@mcp-host/upstream'
import { entries } from './entries/server-entry.ts'
import {
  absolutePath,
  address,
  explained,
  fields,
  fileUri,
  filledText,
  headers,
  optional,
  positive,
  restart,
  SANDBOX_DESCRIPTION,
  SANDBOX_EXAMPLE,
  sandboxFields,
  settings,
  texts,
  variables,
} from './entries/server-fields.ts'
import { checkServerName } from './clients/server-name.ts'
import { isObject } from '@mcp-host/json'

const common = {
  ...settings,
  restart: restart.exactOptional(),
  secrets: optional(
    z.record(z.string(), z.string('must be a string'), 'must be an object'),
    'Values to mask in errors, logs and health. Their names are shown instead.',
    { TOKEN: 'a-value' },
  ),
  roots: optional(
    z.array(fileUri, 'must be a list'),
    'Folders that the server is told to work in.',
    ['file:///home/me/documents'],
  ),
} satisfies Record<keyof CommonServerConfig, z.ZodType>

const stdio = {
  type: z.literal('stdio'),
  command: filledText,
  args: texts,
  env: variables,
  cwd: explained(absolutePath, 'The folder to run in.', '/srv/web'),
  limits: optional(
    fields({ memoryBytes: positive.exactOptional(), cpuPercent: positive.exactOptional() }),
    'Limits for the program with its descendants.',
    { memoryBytes: 2 ** 29, cpuPercent: 100 },
  ),
  sandbox: optional(sandboxFields(absolutePath), SANDBOX_DESCRIPTION, SANDBOX_EXAMPLE),
  instances: stdioInstances,
  ...common,
} satisfies Record<keyof StdioServerConfig, z.ZodType>

const remote = (schemes: readonly [string, string]) =>
  ({
    type: z.enum(['http', 'sse', 'websocket']),
    fallback: z.literal('sse', 'must be "sse"').exactOptional(),
    url: address(schemes),
    headers,
    instances: remoteInstances(schemes),
    ...common,
  }) satisfies Record<keyof RemoteServerConfig, z.ZodType>

const TYPES = { error: 'must be "stdio", "http", "sse" or "websocket"' }
const SCHEMAS: Readonly<Record<ServerConfig['type'], z.ZodObject>> = {
  stdio: z.strictObject(stdio),
  http: z.strictObject(remote(['http', 'https'])),
  sse: z.strictObject(remote(['http', 'https'])),
  websocket: z.strictObject(remote(['ws', 'wss'])),
}
const ANY_TYPE = z.object({ type: z.enum(Object.keys(SCHEMAS), TYPES) })

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
  const schema = type === undefined ? ANY_TYPE : SCHEMAS[type]
  const examples = entries[type ?? 'stdio']
  const faults = findProblems(schema, given).map(({ path: steps, message }) => ({
    path: steps.reduce<string>(fieldPath, path),
    message,
    remedy: exampleOf(schema, steps[0]) ?? exampleOf(examples, steps[0]) ?? 'Remove it.',
  }))
  const fault = checkInstances(given)
  if (fault === undefined) return faults
  const { field, ...rest } = fault
  return [...faults, { path: fieldPath(path, field), ...rest }]
}

function isType(type: unknown): type is ServerConfig['type'] {
  return typeof type === 'string' && Object.hasOwn(SCHEMAS, type)
}
