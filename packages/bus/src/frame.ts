import { BusError, Envelope } from '@mcp-host/contracts'
import { z } from 'zod'

const NEWLINE = 10
const text = new TextDecoder()

/**
 * A message with an opaque body: one line of JSON with the head, then the body unchanged. This avoids costly headers
 * and JSON within JSON.
 */
export interface Frame<Head> {
  readonly head: Head
  /** The body, as JSON. */
  readonly body: Uint8Array
}

export function encodeFrame(head: unknown, body: Uint8Array | string): Uint8Array {
  const line = `${JSON.stringify(head)}\n`
  if (typeof body === 'string') return Buffer.from(line + body)
  const first = Buffer.from(line)
  return Buffer.concat([first, body], first.length + body.length)
}

/** Decodes a frame. Its body is a view of `data`. Throws `invalid` for other data, or a head that breaks the schema. */
export function decodeFrame<Head>(
  schema: z.ZodType<Head>,
  data: Uint8Array,
  what: string,
): Frame<Head> {
  const end = data.indexOf(NEWLINE)
  let line: unknown
  try {
    line = JSON.parse(text.decode(data.subarray(0, Math.max(0, end))))
  } catch (error) {
    throw new BusError('invalid', `${what}: no frame`, { cause: error })
  }
  const head = schema.safeParse(line)
  if (!head.success) throw BusError.fromZod(head.error, what)
  return { head: head.data, body: data.subarray(end + 1) }
}

const schemas = new WeakMap<z.ZodType, z.ZodType>()

/** The head of a request, with its envelope. */
export function withEnvelope<Head>(head: z.ZodType<Head>): z.ZodType<[Envelope, Head]> {
  const known = schemas.get(head) ?? z.tuple([Envelope, head])
  schemas.set(head, known)
  return known as z.ZodType<[Envelope, Head]>
}
