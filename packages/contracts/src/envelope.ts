import { z } from 'zod'
import type { Principal } from './principal.ts'

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The headers of every message: the request, its trace, principal and time limit. Log lines have the same fields. */
export const Envelope = z.object({
  requestId: z.string(),
  parentRequestId: z.string().optional(),
  /** W3C trace context. */
  traceparent: z.string().regex(TRACEPARENT),
  /** Id of the principal on whose behalf it is sent. */
  principal: z.string(),
  /** Roles of that principal; absent where nothing is decided by them. */
  roles: z.array(z.string()).optional(),
  /** Scopes of its credential; absent without roles, and in messages of earlier versions. */
  scopes: z.array(z.string()).optional(),
  /** The entrance of that principal's request: one of `Entrance`, or one that a later version knows. */
  entrance: z.string().optional(),
  /** Epoch milliseconds by the broker's clock after which the caller does not wait for the answer. */
  expiresAt: z.number().optional(),
  /** The same for receivers of earlier versions, which judge it by their own clock; theirs is by the sender's clock. */
  deadline: z.number().optional(),
})
export type Envelope = z.infer<typeof Envelope>

/** The hexadecimal digits of an id of 8 bytes. */
const SHORT_ID = 16
/** Random digits, generated in bulk: that is much cheaper than a few for each message. */
let digits = ''
let used = 0

function newId(length: number): string {
  if (used + length > digits.length) {
    digits = Buffer.from(crypto.getRandomValues(new Uint8Array(2_048))).toString('hex')
    used = 0
  }
  used += length
  return digits.slice(used - length, used)
}

/** The ways into the host. `system`: the host itself. */
export type Entrance = 'ws' | 'http' | 'mcp' | 'mcp-ws' | 'rest' | 'stdio' | 'system'

/** The principal of an envelope, and the entrance that it came through. */
export type Caller = Pick<Principal, 'id' | 'roles' | 'scopes'> & { readonly entrance?: Entrance }

/** A principal at the entrance of its request. */
export function callerAt(entrance: Entrance, { id, roles, scopes }: Caller): Caller {
  return { id, roles, scopes, entrance }
}

/** The envelope of a request that no other request of the host caused; `traceparent`: the trace of its caller. */
export function newEnvelope(caller: Caller | string, traceparent?: string): Envelope {
  const requestId = newId(SHORT_ID)
  const isGiven = traceparent !== undefined && TRACEPARENT.test(traceparent)
  return {
    requestId,
    traceparent: isGiven ? traceparent : `00-${newId(2 * SHORT_ID)}-${requestId}-01`,
    ...(typeof caller === 'string'
      ? { principal: caller }
      : {
          principal: caller.id,
          roles: caller.roles,
          scopes: caller.scopes,
          ...(caller.entrance === undefined ? {} : { entrance: caller.entrance }),
        }),
  }
}

/** The envelope of a request made on behalf of another: same trace, new span. */
export function childEnvelope(parent: Envelope): Envelope {
  return {
    requestId: newId(SHORT_ID),
    parentRequestId: parent.requestId,
    traceparent: `00-${traceId(parent)}-${newId(SHORT_ID)}-01`,
    principal: parent.principal,
    ...(parent.roles === undefined ? {} : { roles: parent.roles }),
    ...(parent.scopes === undefined ? {} : { scopes: parent.scopes }),
    ...(parent.entrance === undefined ? {} : { entrance: parent.entrance }),
  }
}

export function traceId(envelope: Envelope): string {
  return envelope.traceparent.slice(3, 35)
}
