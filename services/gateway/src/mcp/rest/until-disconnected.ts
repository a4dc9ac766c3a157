import { BusError } from '@mcp-host/contracts'
import type { InFlight } from '@mcp-host/async'
import type { FastifyReply } from 'fastify'
import { RestFault } from './rest-fault.ts'

export interface UntilDisconnectedOptions {
  /** Requests in flight, which a drain waits for. */
  readonly passing: InFlight
  /** The time limit of the caller. */
  readonly timeoutMs: number | undefined
}

/** Runs a request whose signal aborts when the caller disconnects, or after its time limit. */
export async function untilDisconnected<T>(
  reply: FastifyReply,
  { passing, timeoutMs }: UntilDisconnectedOptions,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  const inFlight = passing.begin()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) ended.abort(new BusError('cancelled', 'the caller has left'))
    inFlight[Symbol.dispose]()
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
