import type { Envelope } from '@mcp-host/contracts'
import { traceId } from '@mcp-host/contracts'
import type { Logger, LoggerOptions } from 'pino'
import { pino } from 'pino'
import { withoutSecrets } from './secret.ts'

export type { Logger } from 'pino'

/** The size of unwritten log lines in memory; further lines are dropped. */
const MAX_HELD_BYTES = 1024 * 1024

export function createLogger(service: string, level: string): Logger {
  const out = pino.destination({ fd: 1, sync: true, maxLength: MAX_HELD_BYTES })
  // With a full disk or without a reader the service goes on, and logs again when it can.
  out.on('error', () => undefined)
  const options: LoggerOptions = {
    level,
    base: { service, pid: process.pid },
    messageKey: 'message',
    timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error: unknown) => shortenError(pino.stdSerializers.err(error as Error)) },
    hooks: { streamWrite: (line) => escapeControls(withoutSecrets(line)) },
  }
  return pino(options, out)
}

/** The length of each text of an error in the log, in UTF-16 units: a provider's answer may be in its message. */
const MAX_ERROR_LENGTH = 8_000

/** The serialised error without the ends of long texts. */
export function shortenError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error
  return Object.fromEntries(
    Object.entries(error).map(([key, value]) => [
      key,
      typeof value === 'string' && value.length > MAX_ERROR_LENGTH
        ? `${value.slice(0, MAX_ERROR_LENGTH).toWellFormed()}…`
        : value,
    ]),
  )
}

/** Control characters that JSON leaves unescaped, and marks that change the displayed order of a text. */
const CONTROLS = /[\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g

/** A line of JSON that cannot control the terminal that shows it. */
export function escapeControls(line: string): string {
  return line.replaceAll(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The fields of a log line that name its request and its trace. */
export function requestFields(envelope: Envelope): Record<string, string> {
  return {
    requestId: envelope.requestId,
    ...(envelope.parentRequestId === undefined
      ? {}
      : { parentRequestId: envelope.parentRequestId }),
    traceId: traceId(envelope),
    correlationId: traceId(envelope),
  }
}
