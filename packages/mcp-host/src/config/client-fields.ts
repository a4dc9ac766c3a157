import { ownValue } from '../json/own-value.ts'

/** A server's fields in the words of this host, read from those that other clients use. */
export interface OwnFields {
  readonly fields: Readonly<Record<string, unknown>>
  /** For each field that was renamed, the name that it has in the file. */
  readonly renamed: ReadonlyMap<string, string>
  /** Fields whose values were understood otherwise than they are meant here. */
  readonly warnings: readonly { readonly field: string; message: string; remedy: string }[]
}

/** Spellings of one transport. */
const TYPES: Readonly<Record<string, string>> = {
  streamableHttp: 'http',
  streamablehttp: 'http',
  streamable_http: 'http',
}

/** A longer limit in seconds is a mistake: several clients write milliseconds. */
const MAX_SECONDS = 3600

/**
 * Reads fields of other clients as this host has them: Gemini CLI (`httpUrl`, `includeTools`,
 * `excludeTools`), Windsurf (`serverUrl`, `disabledTools`), Copilot (`tools` as a list), Cline
 * (`streamableHttp`), VS Code (numbers in `env`), and `timeout` in milliseconds.
 */
export function toOwnFields(given: Readonly<Record<string, unknown>>): OwnFields {
  const {
    httpUrl,
    serverUrl,
    includeTools,
    excludeTools,
    disabledTools,
    // Looked at before its server is read.
    enabled: _,
    ...fields
  } = given
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
  const { type, tools, timeout, env } = own
  if (typeof type === 'string') own['type'] = ownValue(TYPES, type) ?? type
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

/** Numbers and truth values as text; a variable that is null is not set. */
function toTexts(env: object): Record<string, unknown> {
  const texts = Object.entries(env).flatMap(([name, value]): [string, unknown][] => {
    if (value === null) return []
    return [[name, typeof value === 'number' || typeof value === 'boolean' ? `${value}` : value]]
  })
  return Object.fromEntries(texts)
}
