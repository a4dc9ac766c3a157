import { ownValue } from '@mcp-host/contracts'
import { fromBase64Url, toBase64Url } from '../messages/base64-url.ts'
import type { Params } from '../messages/json-rpc.ts'
import { isObject } from '@mcp-host/json'
import type { SignSession } from '../messages/signed-id.ts'
import { isSigned, signedId } from '../messages/signed-id.ts'

/**
 * The session of a legacy client. Its id contains everything about it, so every gateway can use it, even after all
 * gateways were restarted.
 */
export interface ClientSession {
  /** The unguessable name of the session on the bus. */
  readonly id: string
  /** The capabilities that the client declared. */
  readonly capabilities: Params
}

/** The HTTP header that names the session of a request. */
export const SESSION_HEADER = 'mcp-session-id'

/**
 * Limit for the capabilities in an id, since clients and proxies limit headers. Longer ones are reduced to those that
 * servers can use.
 */
const MAX_CAPABILITIES = 1_500
const ASKABLE = ['sampling', 'elicitation', 'roots']

/** A new session id, in the form that the client sends. */
export function newSession(capabilities: Params, sign: SignSession): string {
  const encoded = toBase64Url(JSON.stringify(shrinkToFit(capabilities)))
  return `${signedId(signWith(encoded, sign))}.${encoded}`
}

/** The session of an id; `undefined` when no gateway has issued it. */
export function readSession(sessionId: string, sign: SignSession): ClientSession | undefined {
  const [, id, encoded] = /^([0-9a-f]{32})\.([A-Za-z0-9_-]+)$/.exec(sessionId) ?? []
  if (id === undefined || encoded === undefined) return undefined
  if (!isSigned(id, signWith(encoded, sign))) return undefined
  try {
    const capabilities: unknown = JSON.parse(fromBase64Url(encoded))
    return isObject(capabilities) ? { id, capabilities } : undefined
  } catch {
    return undefined
  }
}

/** Signs an id together with the capabilities, which a client must not change later. */
function signWith(encoded: string, sign: SignSession): SignSession {
  return (random) => sign(`${random}.${encoded}`)
}

function shrinkToFit(capabilities: Params): Params {
  if (JSON.stringify(capabilities).length <= MAX_CAPABILITIES) return capabilities
  return Object.fromEntries(
    ASKABLE.flatMap((name) => (isObject(ownValue(capabilities, name)) ? [[name, {}]] : [])),
  )
}
