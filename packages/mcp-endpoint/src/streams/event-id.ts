import { fromBase64Url, toBase64Url } from '../messages/base64-url.ts'
import type { JsonRpcId } from '../messages/json-rpc.ts'
import { isJsonRpcId } from '../messages/json-rpc.ts'
import type { ResumePoint } from '../servers.ts'

/** A request whose events have ids. The ids contain everything that another gateway needs to continue it. */
export interface EventSource {
  readonly kept: ResumePoint
  /** The id of the request, as the client sent it. */
  readonly request: JsonRpcId
  readonly progressToken?: JsonRpcId | undefined
}

/** The last event that a client received. */
export interface LastEvent extends EventSource {
  /** The number of the event; `end`: it was the last. */
  readonly number: number | 'end'
}

/** Limit for the length of an id, since clients and proxies limit headers. */
const MAX_LENGTH = 1_000

/** Creates the ids of a request's events. `undefined`: they would be too long for a header. */
export function eventIds({
  kept: { supervisor, server, id },
  request,
  progressToken,
}: EventSource): ((number: number | 'end') => string) | undefined {
  const token = progressToken === undefined ? [] : [progressToken]
  const source = toBase64Url(JSON.stringify([supervisor, server, id, request, ...token]))
  return source.length > MAX_LENGTH ? undefined : (number) => `${source}.${number}`
}

/** Parses an id. `undefined`: it is not an id of this host. */
export function readEventId(eventId: string): LastEvent | undefined {
  const [, source, last] = /^([A-Za-z0-9_-]+)\.(\d{1,15}|end)$/.exec(eventId) ?? []
  if (source === undefined) return undefined
  try {
    const parts: unknown = JSON.parse(fromBase64Url(source))
    if (!Array.isArray(parts)) return undefined
    const [supervisor, server, id, request, progressToken] = parts as unknown[]
    const isRight = isName(supervisor) && isName(server) && isName(id) && isJsonRpcId(request)
    if (!isRight) return undefined
    return {
      kept: { supervisor, server, id },
      request,
      progressToken: isJsonRpcId(progressToken) ? progressToken : undefined,
      number: last === 'end' ? last : Number(last),
    }
  } catch {
    return undefined
  }
}

/** Whether a value may be a part of a subject on the bus. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value)
}
