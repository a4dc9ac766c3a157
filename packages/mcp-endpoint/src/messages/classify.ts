import type { Params, JsonRpcId } from './json-rpc.ts'
import { isObject } from '@mcp-host/json'
import { JsonRpcCode, MetaKey } from '@mcp-host/mcp'
import { JsonRpcError } from './json-rpc.ts'
import type { Era } from './versions.ts'
import { isModern, LEGACY_VERSIONS, MODERN_VERSIONS } from './versions.ts'

/** The headers that must agree with the body of a request. */
export interface McpHeaders {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

const NO_HEADERS: McpHeaders = { version: undefined, method: undefined, name: undefined }

export interface JsonRpcRequest {
  readonly kind: 'request'
  readonly era: Era
  readonly id: JsonRpcId
  readonly method: string
  readonly params: Params
}

export interface JsonRpcNotification {
  readonly kind: 'notification'
  readonly era: Era
  readonly method: string
  readonly params: Params
}

/** The response to a request of the host. */
export interface JsonRpcResponse {
  readonly kind: 'response'
  readonly id: JsonRpcId
  readonly message: Readonly<Record<string, unknown>>
}

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse

/** The required `_meta` of a request of 2026-07-28; client info is optional. */
const ENVELOPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  [MetaKey.protocolVersion]: (value) => typeof value === 'string',
  [MetaKey.clientInfo]: (value) =>
    value === undefined ||
    (isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string'),
  [MetaKey.clientCapabilities]: isObject,
}

/** The parameter that the `Mcp-Name` header repeats, by method. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

/**
 * Classifies one message and finds its era. A request of 2026-07-28 declares it in `_meta`, and must agree with its
 * headers, if there are any. Throws `JsonRpcError`.
 */
export function classify(message: unknown, given: McpHeaders | undefined): JsonRpcMessage {
  const headers = given ?? NO_HEADERS
  if (!isObject(message) || message['jsonrpc'] !== '2.0') throw noMessage()
  const { id, method } = message
  if (method === undefined) return toResponse(message)
  if (typeof method !== 'string') throw noMessage('method: must be a string')
  const params = message['params'] ?? {}
  if (!isObject(params)) throw noMessage('params: must be an object')
  const content = withoutNulls(params)
  if (id === undefined || (id === null && method.startsWith('notifications/'))) {
    const era = eraOfNotice(method, content, headers)
    return { kind: 'notification', era, method, params: content }
  }
  if (!isId(id)) throw noMessage('id: must be a string or an integer')
  const era = eraOf(method, content, headers)
  if (era === 'modern' && given !== undefined) checkHeaders(method, content, given)
  return { kind: 'request', era, id, method, params: content }
}

/** The parameters without those that are `null`, by which careless clients mean nothing. */
function withoutNulls(params: Params): Params {
  for (const value of Object.values(params)) {
    if (value !== null) continue
    return Object.fromEntries(Object.entries(params).filter(([, each]) => each !== null))
  }
  return params
}

/** The id for the error response to a message, or `null`. */
export function idOf(message: unknown): JsonRpcId | null {
  return isObject(message) && isId(message['id']) ? message['id'] : null
}

function isId(id: unknown): id is JsonRpcId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

function toResponse(message: Readonly<Record<string, unknown>>): JsonRpcResponse {
  const { id, result, error } = message
  const isAnswer = isObject(result) !== isObject(error)
  if (!isId(id) || !isAnswer) throw noMessage()
  return { kind: 'response', id, message }
}

function eraOf(method: string, params: Params, { version, method: named }: McpHeaders): Era {
  const meta = isObject(params['_meta']) ? params['_meta'] : undefined
  const claim = meta?.[MetaKey.protocolVersion]
  const faulty =
    claim === undefined
      ? undefined
      : Object.entries(ENVELOPE).find(([key, isRight]) => !isRight(meta?.[key]))
  const isClaimed = faulty === undefined && typeof claim === 'string' && isModern(claim)
  if (method === 'initialize' && !isClaimed) {
    if (version === undefined || !isModern(version)) return 'legacy'
    throw mismatch(
      `there is no initialize in ${version}, which the MCP-Protocol-Version header names`,
    )
  }
  if (claim === undefined) {
    if (version === undefined) return 'legacy'
    if (isModern(version)) throw incomplete(meta ?? {}, version)
    if (!LEGACY_VERSIONS.includes(version)) throw unsupported(version)
    return 'legacy'
  }
  if (faulty !== undefined || typeof claim !== 'string')
    throw malformed(faulty?.[0] ?? MetaKey.protocolVersion)
  if (version !== undefined && version !== claim) {
    throw mismatch(`the body names ${claim}, the MCP-Protocol-Version header ${version}`)
  }
  if (named !== undefined && named !== method) {
    throw mismatch(`the body names ${method}, the Mcp-Method header ${named}`)
  }
  if (!MODERN_VERSIONS.includes(claim)) throw unsupported(claim)
  return 'modern'
}

function eraOfNotice(method: string, params: Params, headers: McpHeaders): Era {
  const { version, method: named } = headers
  const meta = isObject(params['_meta']) ? params['_meta'] : {}
  const claim = meta[MetaKey.protocolVersion]
  if (claim !== undefined && typeof claim !== 'string') throw malformed(MetaKey.protocolVersion)
  if (claim !== undefined && version !== undefined && version !== claim) {
    throw mismatch(`the body names ${claim}, the MCP-Protocol-Version header ${version}`)
  }
  const spoken = claim ?? version
  if (spoken === undefined || !isModern(spoken)) return 'legacy'
  if (named !== undefined && named !== method) {
    throw mismatch(`the body names ${method}, the Mcp-Method header ${named}`)
  }
  return 'modern'
}

/** Checks the headers that repeat the body: proxies may decide by them, so they must be present and correct. */
function checkHeaders(method: string, params: Params, headers: McpHeaders): void {
  if (headers.version === undefined) throw mismatch('the MCP-Protocol-Version header is missing')
  if (headers.method === undefined) throw mismatch('the Mcp-Method header is missing')
  const field = NAMED_BY.get(method)
  if (field === undefined) return
  const wanted = params[field]
  if (headers.name === undefined) {
    if (typeof wanted !== 'string') return
    throw mismatch(`the Mcp-Name header, which repeats params.${field}, is missing`)
  }
  const name = decodeHeader(headers.name)
  if (name === undefined) throw mismatch('the Mcp-Name header is no valid Base64')
  if (typeof wanted === 'string' && name !== wanted) {
    throw mismatch(`the body names ${wanted}, the Mcp-Name header ${name}`)
  }
}

const ENCODED = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/

/** The decoded value of a header, which uses Base64 for other characters. `undefined`: it is malformed. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value
  const [, encoded] = ENCODED.exec(value) ?? []
  if (encoded === undefined) return undefined
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function noMessage(why = 'the body must be a message of JSON-RPC 2.0'): JsonRpcError {
  return new JsonRpcError(JsonRpcCode.invalidRequest, why, { status: 400 })
}

/** The error for headers that differ from the body. */
export function mismatch(why: string): JsonRpcError {
  const message = `the headers and the body of the request disagree: ${why}`
  return new JsonRpcError(JsonRpcCode.headerMismatch, message, { status: 400 })
}

function incomplete(meta: Params, version: string): JsonRpcError {
  const missing = Object.entries(ENVELOPE).flatMap(([key, isRight]) =>
    meta[key] === undefined && !isRight(undefined) ? key : [],
  )
  const message = `a request of ${version} needs ${missing.join(', ')} in its _meta`
  return new JsonRpcError(JsonRpcCode.invalidParams, message, {
    status: 400,
    data: { envelope: { missing } },
  })
}

function malformed(key: string): JsonRpcError {
  return new JsonRpcError(JsonRpcCode.invalidParams, `_meta: ${key} is missing or malformed`, {
    status: 400,
    data: { envelope: { key } },
  })
}

function unsupported(requested: string): JsonRpcError {
  const supported = isModern(requested) ? MODERN_VERSIONS : LEGACY_VERSIONS
  const message = `Unsupported protocol version: ${requested}; there are ${supported.join(', ')}`
  return new JsonRpcError(JsonRpcCode.unsupportedVersion, message, {
    status: 400,
    data: { supported, requested },
  })
}
