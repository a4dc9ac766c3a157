import type { JsonRpcError, JsonRpcId } from '../messages/json-rpc.ts'
import type { ServerReply } from '../servers.ts'

const bytes = new TextEncoder()

/** The response to a request, with the result or error of a server. */
export function toMessage(id: JsonRpcId, { type, json }: ServerReply): Uint8Array {
  return type === 'result' ? success(id, json) : wrapped(id, 'error', json)
}

export function success(id: JsonRpcId, json: Uint8Array): Uint8Array {
  return wrapped(id, 'result', json)
}

export function failure(id: JsonRpcId | null, fault: JsonRpcError): Uint8Array {
  return wrapped(id, 'error', bytes.encode(JSON.stringify(fault)))
}

/** Wraps JSON without parsing it. */
function wrapped(id: JsonRpcId | null, field: 'result' | 'error', json: Uint8Array): Uint8Array {
  return joined(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${field}":`, [json], '}')
}

/** A progress notification with the caller's token. `params` is JSON. */
export function progress(token: JsonRpcId, params: string): Uint8Array {
  const rest = params === '{}' ? '}' : `,${params.slice(1)}`
  return outgoing('notifications/progress', `{"progressToken":${JSON.stringify(token)}${rest}`)
}

/** A notification, or with an id a request, to the client. `params` is JSON. */
export function outgoing(method: string, params?: string, id?: JsonRpcId): Uint8Array {
  const named = id === undefined ? '' : `"id":${JSON.stringify(id)},`
  const rest = params === undefined ? '' : `,"params":${params}`
  return bytes.encode(`{"jsonrpc":"2.0",${named}"method":${JSON.stringify(method)}${rest}}`)
}

const EVENT = 'event: message\ndata: '
const EVENT_END = '\n\n'

/** A message as an event of a stream. `id`: sent back by a client that resumes after this event. */
export function event(message: Uint8Array, id?: string): Uint8Array {
  const before = id === undefined ? EVENT : `id: ${id}\n${EVENT}`
  return joined(before, [message], EVENT_END)
}

/** Sent first on a stream, since some proxies and clients wait for the first bytes. */
export const OPENED = bytes.encode(': open\n\n')

/** The client's delay before it reconnects, in milliseconds. */
const RETRY_MS = 1_500

/** An event without a message: it gives the client an id and a delay for reconnecting. */
export function priming(id: string): Uint8Array {
  return bytes.encode(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`)
}

/** The message of an event without an id; `undefined` for a comment, which only keeps the stream open. */
export function messageOf(chunk: Uint8Array): Uint8Array | undefined {
  return chunk[0] === EVENT.charCodeAt(0)
    ? chunk.subarray(EVENT.length, -EVENT_END.length)
    : undefined
}

/** Joins JSON texts with commas, between `before` and `after`. */
export function joined(before: string, parts: readonly Uint8Array[], after: string): Uint8Array {
  const commas = Math.max(0, parts.length - 1)
  // One UTF-16 unit takes up to three bytes.
  const length = parts.reduce(
    (sum, part) => sum + part.length,
    before.length * 3 + commas + after.length,
  )
  const target = new Uint8Array(length)
  let at = bytes.encodeInto(before, target).written
  for (const [index, part] of parts.entries()) {
    if (index > 0) target[at++] = 0x2c
    target.set(part, at)
    at += part.length
  }
  at += bytes.encodeInto(after, target.subarray(at)).written
  return target.subarray(0, at)
}
