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

/** Of 8 bytes, in hexadecimal digits. */
const SHORT_ID = 16
/** Random digits, made many at a time: that is much cheaper than a few for each message. */
let digits = ''
let used = 0

/** Random, `length` hexadecimal digits. */
function newId(length: number): string {
  if (used + length > digits.length) {
    digits = Buffer.from(crypto.getRandomValues(new Uint8Array(2_048))).toString('hex')
    used = 0
  }
  used += length
  return digits.slice(used - length, used)
}

/** The envelope of a request that nothing of ours caused, or of a trace that somebody else began. */
export function newEnvelope(principal: string, traceparent?: string): Envelope {
  const requestId = newId(SHORT_ID)
  const isGiven = traceparent !== undefined && TRACEPARENT.test(traceparent)
  return {
    requestId,
    traceparent: isGiven ? traceparent : `00-${newId(2 * SHORT_ID)}-${requestId}-01`,
    principal,
  }
}

/** The envelope of a request made on behalf of another: same trace, new span. */
export function childEnvelope(parent: Envelope, deadline?: number): Envelope {
  return {
    requestId: newId(SHORT_ID),
    parentRequestId: parent.requestId,
    traceparent: `00-${traceId(parent)}-${newId(SHORT_ID)}-01`,
    principal: parent.principal,
    ...(deadline === undefined ? {} : { deadline }),
  }
}

export function traceId(envelope: Envelope): string {
  return envelope.traceparent.slice(3, 35)
}
