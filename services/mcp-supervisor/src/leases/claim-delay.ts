import type { CatalogEntry } from '@mcp-host/contracts'
import { hashText, presentSupervisors } from '@mcp-host/contracts'

const STEP_MS = 150
const MAX_STEPS = 3

/**
 * The delay before a supervisor tries to take a lease, in milliseconds. Each key orders the present supervisors
 * differently, which spreads leases that become free together. `dead`: a supervisor that does not count as present.
 */
export function claimDelayMs(
  key: string,
  supervisor: string,
  entries: Iterable<CatalogEntry>,
  dead?: string,
): number {
  const ahead = presentSupervisors(entries).filter(
    (id) => id !== dead && id !== supervisor && weight(key, id) > weight(key, supervisor),
  )
  return STEP_MS * Math.min(MAX_STEPS, ahead.length)
}

function weight(key: string, id: string): number {
  // Mixed again, since the hashes of names that differ only at the end are close to each other.
  let hash = hashText(`${key} ${id}`)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
