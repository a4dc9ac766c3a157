import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { CallContract, Envelope, SubjectParams } from '@mcp-host/contracts'
import { BusError, childEnvelope } from '@mcp-host/contracts'

/** The time limit for an answer, which a living process sends far sooner. */
const PROBE_TIMEOUT_MS = 1_000
/**
 * The delay before the second probe. One missing answer may be due to a new subscription; two mean that the process is
 * gone.
 */
const SECOND_PROBE_MS = 250

/**
 * The reason for a missing answer. `gone`: the broker has no listener, so the process or the work has ended. `silent`:
 * a process listens and does not answer; it may be frozen and go on later.
 */
export type Absence = 'gone' | 'silent'

/** Pings the process that should have the work, twice if necessary. `undefined`: no process answered. */
export async function probe<S extends string, Request, Reply>(
  ...request: Probe<S, Request, Reply>
): Promise<Reply | undefined> {
  return (await ask(...request)).reply
}

/** Pings like `probe`. `undefined`: a process answered. */
export async function findAbsence<S extends string, Request, Reply>(
  ...request: Probe<S, Request, Reply>
): Promise<Absence | undefined> {
  return (await ask(...request)).absence
}

type Probe<S extends string, Request, Reply> = [
  bus: Pick<Bus, 'call'>,
  contract: CallContract<S, Request, Reply>,
  params: SubjectParams<S>,
  request: Request,
  envelope: Envelope,
]

async function ask<S extends string, Request, Reply>(
  ...[bus, contract, params, request, envelope]: Probe<S, Request, Reply>
): Promise<{ readonly reply?: Reply; readonly absence?: Absence }> {
  let absence: Absence = 'gone'
  for (const isLast of [false, true]) {
    try {
      const options = { envelope: childEnvelope(envelope), timeoutMs: PROBE_TIMEOUT_MS }
      return { reply: await bus.call(contract, params, request, options) }
    } catch (error) {
      const { code } = BusError.from(error)
      if (code !== 'unavailable' && code !== 'deadline') throw error
      absence = code === 'unavailable' ? 'gone' : 'silent'
      if (!isLast) await delay(SECOND_PROBE_MS)
    }
  }
  return { absence }
}
