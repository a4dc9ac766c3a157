import { z } from 'zod'

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * What travels with every message, in its headers: who asked, for which request, until when.
 * Log lines carry the same names.
 */
export const Envelope = z.object({
  requestId: z.string(),
  parentRequestId: z.string().optional(),
  /** W3C trace context. */
  traceparent: z.string().regex(TRACEPARENT),
  /** On whose behalf; `local` until clients authenticate. */
  principal: z.string(),
  /** Epoch milliseconds after which nobody waits for the answer. */
  deadline: z.number().optional(),
})
export type Envelope = z.infer<typeof Envelope>

/** Random, of 16 bytes. Made of a UUID: the runtime makes those in advance. */
function longId(): string {
  const id = crypto.randomUUID()
  return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + shortId(id)
}

/** Random, of 8 bytes. */
function shortId(id: string = crypto.randomUUID()): string {
  return id.slice(19, 23) + id.slice(24)
}

/** The envelope of a request that nothing of ours caused, or of a trace that somebody else began. */
export function newEnvelope(principal: string, traceparent?: string): Envelope {
  const requestId = shortId()
  const isGiven = traceparent !== undefined && TRACEPARENT.test(traceparent)
  return {
    requestId,
    traceparent: isGiven ? traceparent : `00-${longId()}-${requestId}-01`,
    principal,
  }
}

/** The envelope of a request made on behalf of another: same trace, new span. */
export function childEnvelope(parent: Envelope, deadline?: number): Envelope {
  return {
    requestId: shortId(),
    parentRequestId: parent.requestId,
    traceparent: `00-${traceId(parent)}-${shortId()}-01`,
    principal: parent.principal,
    ...(deadline === undefined ? {} : { deadline }),
  }
}

export function traceId(envelope: Envelope): string {
  return envelope.traceparent.slice(3, 35)
}
