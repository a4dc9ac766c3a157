import { setImmediate } from 'node:timers/promises'
import type { ChainFault } from '@mcp-host/audit'
import { ChainVerifier } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'

/** Limits for one verification: its time, and the faults that it lists. */
const MAX_MS = 20_000
const MAX_FAULTS = 100

export interface Verification {
  readonly entries: number
  readonly writers: number
  /** The number of faults, of which the first ones are listed. */
  readonly faultCount: number
  readonly faults: readonly ChainFault[]
  /** Whether the log was read to its end. */
  readonly isComplete: boolean
}

/** Verifies the chains of all writers, for a limited time. Aborts with the signal. */
export async function verifyAudit(
  { audit }: Pick<Bus, 'audit'>,
  signal: AbortSignal,
): Promise<Verification> {
  const faults: ChainFault[] = []
  let faultCount = 0
  const verifier = new ChainVerifier({
    onFault(fault) {
      faultCount++
      if (faults.length < MAX_FAULTS) faults.push(fault)
    },
    // The first entries of a chain expire.
    isBeginOptional: true,
    now: Date.now(),
  })
  const endAt = performance.now() + MAX_MS
  let isComplete = true
  for await (const { writer, entries } of audit.read()) {
    for (const entry of entries) verifier.take(writer, entry)
    if (performance.now() > endAt) {
      isComplete = false
      break
    }
    // Requests of others go on between two messages.
    await setImmediate()
    signal.throwIfAborted()
  }
  // Without the end of the log, chains would seem to be cut.
  if (isComplete) verifier.end()
  return { ...verifier.counts, faultCount, faults, isComplete }
}
