import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import * as z from 'zod'

/** The error for a handshake that the server refuses, answers faultily, or answers with an unknown revision. */
export class HandshakeError extends Error {
  override readonly name = 'HandshakeError'
}

const Issues = z.array(
  z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
)
const MAX_ISSUES = 5
/** The beginning of the SDK's message. */
const UNKNOWN_VERSION = "Server's protocol version is not supported"

/** Converts a failure of the SDK's handshake to a `HandshakeError` if the server's answer is at fault. */
export function toHandshakeError(cause: unknown): unknown {
  if (cause instanceof ProtocolError) {
    return new HandshakeError(`it refused the handshake: ${cause.message} (${cause.code})`)
  }
  if (cause instanceof SdkError && cause.code === SdkErrorCode.InvalidResult) {
    return new HandshakeError(`its answer to the handshake is faulty: ${readable(cause.message)}`)
  }
  const isVersion = cause instanceof Error && cause.message.startsWith(UNKNOWN_VERSION)
  return isVersion ? new HandshakeError(cause.message) : cause
}

/** A readable form of the SDK's message, which ends with the issues of zod as JSON. */
function readable(message: string): string {
  try {
    const issues = Issues.parse(JSON.parse(message.slice(message.indexOf('['))))
    const faults = issues.map(({ path, message: fault }) => `${path.join('.')}: ${fault}`)
    return faults.slice(0, MAX_ISSUES).join('; ')
  } catch {
    return message
  }
}
