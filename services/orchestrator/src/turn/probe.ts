import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { CallContract, Envelope, SubjectParams } from '@mcp-host/contracts'
import { BusError, childEnvelope } from '@mcp-host/contracts'

/** A process that is alive answers long before. */
const PROBE_TIMEOUT_MS = 1_000
/** One missing answer may be a subscription that is just being made; two are a death. */
const SECOND_PROBE_MS = 250

/** Asks who should be at work whether they are, twice if need be; `undefined` when nobody is. */
export async function probe<S extends string, Request, Reply>(
  bus: Pick<Bus, 'call'>,
  contract: CallContract<S, Request, Reply>,
  params: SubjectParams<S>,
  request: Request,
  envelope: Envelope,
): Promise<Reply | undefined> {
  for (const isLast of [false, true]) {
    try {
      const options = { envelope: childEnvelope(envelope), timeoutMs: PROBE_TIMEOUT_MS }
      return await bus.call(contract, params, request, options)
    } catch (error) {
      const { code } = BusError.from(error)
      if (code !== 'unavailable' && code !== 'deadline') throw error
      if (!isLast) await delay(SECOND_PROBE_MS)
    }
  }
  return undefined
}
