import type { MsgHdrs } from '@nats-io/transport-node'
import { headers } from '@nats-io/transport-node'
import { BusError, Envelope, ErrorInfo, parseInput } from '@mcp-host/contracts'
import { wellFormedJson } from '@mcp-host/json'
import type { z } from 'zod'

const text = new TextDecoder()
const bytes = new TextEncoder()

/** Validates a value and converts it to JSON. Throws `invalid` for a value that breaks the schema. */
export function encode<T>(schema: z.ZodType<T>, value: T, what: string): Uint8Array {
  return bytes.encode(toJson(schema, value, what))
}

/** As `encode`, for stored messages: each unpaired surrogate becomes U+FFFD, since strict JSON parsers refuse it. */
export function encodeWellFormed<T>(schema: z.ZodType<T>, value: T, what: string): Uint8Array {
  return bytes.encode(wellFormedJson(toJson(schema, value, what)))
}

function toJson<T>(schema: z.ZodType<T>, value: T, what: string): string {
  const parsed = parseInput(schema, value, what)
  try {
    return JSON.stringify(parsed)
  } catch (error) {
    throw new BusError('invalid', `${what}: nested too deeply`, { cause: error })
  }
}

/** Parses and validates a message. Throws `invalid` when it is not JSON or breaks the schema. */
export function decode<T>(schema: z.ZodType<T>, data: Uint8Array, what: string): T {
  let value: unknown
  try {
    value = JSON.parse(text.decode(data))
  } catch (error) {
    throw new BusError('invalid', `${what}: not JSON`, { cause: error })
  }
  return parseInput(schema, value, what)
}

const HEADERS = {
  requestId: 'Request-Id',
  parentRequestId: 'Parent-Request-Id',
  traceparent: 'traceparent',
  principal: 'Principal',
  roles: 'Roles',
  scopes: 'Scopes',
  entrance: 'Entrance',
  expiresAt: 'Expires-At',
  deadline: 'Deadline',
} as const satisfies Record<keyof Envelope, string>

export function envelopeHeaders(envelope: Envelope): MsgHdrs {
  const result = headers()
  for (const [field, header] of Object.entries(HEADERS)) {
    const value = envelope[field as keyof Envelope]
    if (value !== undefined) result.set(header, String(value))
  }
  return result
}

/** The envelope of a received message. Throws `invalid` when it has none. */
export function readEnvelope(message: { headers?: MsgHdrs | undefined }, what: string): Envelope {
  const given = message.headers
  const field = (key: keyof Envelope): string | undefined => given?.get(HEADERS[key]) || undefined
  const time = (key: 'expiresAt' | 'deadline'): number | undefined => {
    const value = field(key)
    return value === undefined ? undefined : Number(value)
  }
  const parsed = Envelope.safeParse({
    requestId: field('requestId'),
    parentRequestId: field('parentRequestId'),
    traceparent: field('traceparent'),
    principal: field('principal'),
    roles: field('roles')?.split(','),
    // No scopes at all are not the same as none from an earlier version.
    scopes: given?.has(HEADERS.scopes) ? (field('scopes')?.split(',') ?? []) : undefined,
    entrance: field('entrance'),
    expiresAt: time('expiresAt'),
    deadline: time('deadline'),
  })
  if (!parsed.success) throw BusError.fromZod(parsed.error, `${what} headers`)
  return parsed.data
}

/** The header that marks error replies. */
const ERROR_HEADER = 'Bus-Error'

export function errorReply(error: BusError): { data: Uint8Array; headers: MsgHdrs } {
  const marked = headers()
  marked.set(ERROR_HEADER, error.code)
  return { data: bytes.encode(JSON.stringify(error.toInfo())), headers: marked }
}

/** Throws the error of an error reply; returns for any other. */
export function throwErrorReply(reply: { data: Uint8Array; headers?: MsgHdrs | undefined }): void {
  if (!reply.headers?.has(ERROR_HEADER)) return
  const { code, message, field } = decode(ErrorInfo, reply.data, 'the answer')
  throw new BusError(code, message, field === undefined ? {} : { field })
}
