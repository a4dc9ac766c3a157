import { ENVELOPE_KEYS, MetaKey } from '@mcp-host/mcp'
import type { Envelope, McpClient, McpRequestHead } from '@mcp-host/contracts'
import { OPTIONS_META_KEY } from '@mcp-host/contracts'
import { isObject } from '@mcp-host/json'

export type Era = McpRequestHead['era']

export interface Eras {
  readonly caller: Era
  readonly server: Era
}

/** Methods whose results may be cached. From 2026-07-28 on, such results must have a caching hint. */
const CACHEABLE = new Set(['resources/read'])

export type Json = Readonly<Record<string, unknown>>

/**
 * The `_meta` of a request to a server: the caller's fields that the server's era knows, and the trace. For a modern
 * server it includes the declarations of a legacy client at `initialize`.
 */
export function metaFor(
  params: Json,
  { caller, server }: Eras,
  { traceparent }: Envelope,
  client?: McpClient,
): Json {
  const { _meta: given } = params
  const isKnown = caller === 'modern' && server === 'modern'
  const said: Record<string, unknown> = { traceparent }
  for (const key of isObject(given) ? Object.keys(given) : []) {
    const isOurs = key === 'progressToken' || key === OPTIONS_META_KEY
    const isMeant = !isOurs && (isKnown || !ENVELOPE_KEYS.has(key))
    if (isMeant) said[key] = (given as Json)[key]
  }
  if (client === undefined || server === 'legacy') return said
  const { capabilities, logLevel } = client
  const level = logLevel === undefined ? {} : { [MetaKey.logLevel]: logLevel }
  return { ...said, [MetaKey.clientCapabilities]: capabilities, ...level }
}

/** Adapts a result to the era of the caller. */
export function resultFor(method: string, result: object, { caller, server }: Eras): object {
  if (caller === server || !isObject(result)) return result
  if (caller === 'legacy') {
    const { resultType: _, ttlMs: _ttl, cacheScope: _scope, ...rest } = result
    return rest
  }
  const cache = CACHEABLE.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {}
  return { resultType: 'complete', ...cache, ...result }
}

/**
 * Adapts a tool result to legacy callers, for which `structuredContent` must be an object. Any other value becomes `{
 * result: … }`, and so does every value of a tool whose schema was listed in that form (`isWrapped`). The text block
 * that repeats the value is adapted, too.
 */
export function withLegacyOutput(result: object, isWrapped: boolean): object {
  const { structuredContent: value, content } = result as Json
  if (value === undefined) return result
  if (isObject(value))
    return isWrapped ? { ...result, structuredContent: { result: value } } : result
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const hasText = blocks.some((block) => isObject(block) && block['type'] === 'text')
  const added = hasText ? [] : [{ type: 'text', text: JSON.stringify(value) }]
  return { ...result, content: [...blocks, ...added], structuredContent: { result: value } }
}
