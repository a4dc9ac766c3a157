import type { CatalogEntry } from '@mcp-host/contracts'
import { hashText } from '@mcp-host/contracts'

const STEP_MS = 150
const MAX_STEPS = 3

/**
 * The delay before this supervisor tries to take a lease, in milliseconds. Each key orders the present supervisors
 * differently, which spreads leases that become free together. Only free leases are taken: a new supervisor moves no
 * server.
 */
export function claimDelayMs(
  key: string,
  own: string,
  entries: Iterable<CatalogEntry>,
  except?: string,
): number {
  const ahead = Array.from(entries)
    .filter((entry) => entry.kind === 'supervisor')
    .filter(({ id }) => id !== except && id !== own)
    .filter(({ id }) => weight(key, id) > weight(key, own))
  return STEP_MS * Math.min(MAX_STEPS, ahead.length)
}

/** Mixed once more: the hashes of names that differ only at the end are close to each other. */
function weight(key: string, id: string): number {
  let hash = hashText(`${key} ${id}`)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
