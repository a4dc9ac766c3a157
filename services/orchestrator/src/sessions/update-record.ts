import type { SessionDirectory } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** Limit for retries. Each retry means that another process wrote, so this many in a row are a fault. */
const MAX_TRIES = 20

/**
 * Writes the result of `change` for a session's record and returns it, with a retry after a concurrent write. `change`
 * returns `undefined` to leave the record unchanged. `ttlMs`: the lifetime of the record.
 */
export async function updateRecord(
  directory: Pick<SessionDirectory, 'get' | 'put'>,
  session: SessionId,
  change: (record: SessionRecord | undefined) => SessionRecord | undefined,
  options: { readonly ttlMs?: number } = {},
): Promise<SessionRecord | undefined> {
  for (let tries = 1; ; tries++) {
    const found = await directory.get(session)
    const record = change(found?.record)
    if (record === undefined) return undefined
    try {
      await directory.put(record, { revision: found?.revision ?? 0, ...options })
      return record
    } catch (error) {
      if (BusError.from(error).code !== 'conflict' || tries === MAX_TRIES) throw error
    }
  }
}
