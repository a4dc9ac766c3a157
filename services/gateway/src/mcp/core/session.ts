import { ownValue } from '@mcp-host/contracts'
import { fromBase64Url, toBase64Url } from './base64-url.ts'
import type { Params } from './json-rpc.ts'
import { isObject } from 'mcp-host/json'
import type { SignSession } from './signed-id.ts'
import { isSigned, signedId } from './signed-id.ts'

/**
 * The session of a client of the older protocol. Its id says all that must be known of it, so every gateway knows
 * it, also after all of them were started again.
 */
export interface ClientSession {
  /** Names it on the bus; unguessable. */
  readonly id: string
  /** Capabilities that the client declared. */
  readonly capabilities: Params
}

/** Headers of clients and proxies have an end; what is longer is cut to what servers can ask for. */
const MAX_CAPABILITIES = 1_500
const ASKABLE = ['sampling', 'elicitation', 'roots']

/** A new session's id, as the client is to send it. */
export function newSession(capabilities: Params, sign: SignSession): string {
  const id = signedId(sign)
  return `${id}.${toBase64Url(JSON.stringify(shrinkToFit(capabilities)))}`
}

/** The session of an id; `undefined` when no gateway has issued it. */
export function readSession(sessionId: string, sign: SignSession): ClientSession | undefined {
  const [, id, encoded] = /^([0-9a-f]{32})\.([A-Za-z0-9_-]+)$/.exec(sessionId) ?? []
  if (id === undefined || encoded === undefined) return undefined
  if (!isSigned(id, sign)) return undefined
  try {
    const capabilities: unknown = JSON.parse(fromBase64Url(encoded))
    return isObject(capabilities) ? { id, capabilities } : undefined
  } catch {
    return undefined
  }
}

function shrinkToFit(capabilities: Params): Params {
  if (JSON.stringify(capabilities).length <= MAX_CAPABILITIES) return capabilities
  return Object.fromEntries(
    ASKABLE.flatMap((name) => (isObject(ownValue(capabilities, name)) ? [[name, {}]] : [])),
  )
}
