import { BusError } from '@mcp-host/contracts'
import type { AnsweredRequest } from '../events.ts'

export type FrameOutcome = AnsweredRequest['outcome']

/** The outcome of a frame that was answered with an error: a fault of this host, or one of the client. */
export function outcomeOf(error: unknown): FrameOutcome {
  const { code } = BusError.from(error)
  const isOurs = code === 'unavailable' || code === 'deadline' || code === 'internal'
  return isOurs ? 'error' : 'refused'
}
