import type { SessionDirectory } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** Each further try means that another wrote: so many in a row are a fault. */
const MAX_TRIES = 20

/**
 * Writes what `change` makes of a session's record, again when another wrote meanwhile, and answers it.
 * `change` answers `undefined` to leave the record as it is. `ttlMs`: the record is gone after that.
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
