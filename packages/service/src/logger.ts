import type { Envelope } from '@mcp-host/contracts'
import { traceId } from '@mcp-host/contracts'
import type { Logger } from 'pino'
import { pino } from 'pino'
import { withoutSecrets } from './secret.ts'

export type { Logger } from 'pino'

export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service, pid: process.pid },
    messageKey: 'message',
    timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: withoutSecrets },
  })
}

/** The fields that tie a log line to its request and its trace, which is what correlates requests. */
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
