import { BusError } from '@mcp-host/contracts'
import type { InFlight } from '@mcp-host/service'
import type { FastifyReply } from 'fastify'
import { RestFault } from './rest-fault.ts'

export interface UntilLeft {
  /** Requests under way, to be waited for. */
  readonly passing: InFlight
  /** The time limit of the caller. */
  readonly timeoutMs: number | undefined
}

/** Runs something whose signal aborts when the caller has left, or does not want to wait any longer. */
export async function untilLeft<T>(
  reply: FastifyReply,
  { passing, timeoutMs }: UntilLeft,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  const forwarded = passing.begin()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) ended.abort(new BusError('cancelled', 'the caller has left'))
    forwarded[Symbol.dispose]()
  })
  const late =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => ended.abort(tooLate(timeoutMs)), timeoutMs)
  try {
    return await run(ended.signal)
  } finally {
    clearTimeout(late)
  }
}

function tooLate(timeoutMs: number): RestFault {
  const message = `no answer within timeoutMs, ${timeoutMs} ms; the server was told to stop, but may have done it already`
  return new RestFault(504, message, { field: 'timeoutMs', reason: 'unknown-outcome' })
}
