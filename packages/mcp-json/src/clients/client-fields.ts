import { ownValue } from '@mcp-host/json'
import { nameOfType } from '../server-kind.ts'

/** A server's fields under the names that this host uses. */
export interface OwnFields {
  readonly fields: Record<string, unknown>
  /** The name in the file of each renamed field. */
  readonly renamed: ReadonlyMap<string, string>
  /** Fields whose values mean something else in this host. */
  readonly warnings: readonly { readonly field: string; message: string; remedy: string }[]
}

/** A larger `timeout` counts as milliseconds, which several clients write. */
const MAX_SECONDS = 3600

/**
 * Converts fields of other clients: Gemini CLI (`httpUrl`, `includeTools`, `excludeTools`), Windsurf (`serverUrl`,
 * `disabledTools`), Copilot (`tools` as a list), Cline (`streamableHttp`, `transportType`), opencode (`environment`, a
 * list as `command`), VS Code (numbers in `env`), any spelling of a type, and `timeout` in milliseconds.
 */
export function toOwnFields(written: Readonly<Record<string, unknown>>): OwnFields {
  const {
    httpUrl,
    serverUrl,
    includeTools,
    excludeTools,
    disabledTools,
    transportType,
    environment,
    // `findEntries` has read this field.
    enabled: _,
    ...fields
  } = written
  const renamed = new Map<string, string>()
  const warnings: OwnFields['warnings'][number][] = []
  const own: Record<string, unknown> = fields
  if (httpUrl !== undefined && own['url'] === undefined) {
    own['url'] = httpUrl
    own['type'] ??= 'http'
    renamed.set('url', 'httpUrl')
  } else if (serverUrl !== undefined && own['url'] === undefined) {
    own['url'] = serverUrl
    renamed.set('url', 'serverUrl')
  }
  if (transportType !== undefined && own['type'] === undefined) {
    own['type'] = transportType
    renamed.set('type', 'transportType')
  }
  if (environment !== undefined && own['env'] === undefined) {
    own['env'] = environment
    renamed.set('env', 'environment')
  }
  const { auth, command, tools, timeout, env } = own
  if (auth !== undefined && ownValue(Object(auth), 'type') === undefined) {
    delete own['auth']
    const message = 'has no "type" and is ignored'
    const remedy = 'Give it the "type" of a strategy, or remove it.'
    warnings.push({ field: 'auth', message, remedy })
  }
  if (Array.isArray(command) && own['args'] === undefined) {
    const [program, ...args] = command as unknown[]
    own['command'] = program
    own['args'] = args
    renamed.set('args', 'command')
  }
  for (const field of ['type', 'transport']) {
    if (typeof own[field] === 'string') own[field] = nameOfType(own[field])
  }
  const filter = Array.isArray(tools) ? { allow: tools } : { ...(tools as object | undefined) }
  const denied = [excludeTools, disabledTools].filter((list) => list !== undefined).flat()
  if (includeTools !== undefined) own['tools'] = { allow: includeTools, ...filter }
  else if (Array.isArray(tools)) own['tools'] = filter
  if (denied.length > 0) {
    const { deny = [] } = filter as { deny?: unknown }
    own['tools'] = { ...Object(own['tools']), deny: [deny, denied].flat() }
  }
  if (typeof timeout === 'number' && timeout > MAX_SECONDS && own['timeoutMs'] === undefined) {
    delete own['timeout']
    own['timeoutMs'] = timeout
    renamed.set('timeoutMs', 'timeout')
    const message = `is ${timeout} seconds here, and is taken for milliseconds`
    const remedy = `Write "timeoutMs": ${timeout}.`
    warnings.push({ field: 'timeout', message, remedy })
  }
  if (typeof env === 'object' && env !== null && !Array.isArray(env)) own['env'] = toTexts(env)
  return { fields: own, renamed, warnings }
}

/** Variables with numbers and booleans as strings, without those that are null. */
function toTexts(env: object): Record<string, unknown> {
  const texts = Object.entries(env).flatMap(([name, value]): [string, unknown][] => {
    if (value === null) return []
    return [[name, typeof value === 'number' || typeof value === 'boolean' ? `${value}` : value]]
  })
  return Object.fromEntries(texts)
}
