import type { ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** Tells the user what went wrong at an authorization server. */
export async function explaining<T>(
  server: ServerName,
  work: () => Promise<T>,
  code: 'unavailable' | 'invalid' = 'unavailable',
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new BusError(code, `the login at "${server}" failed: ${reason}`, { cause })
  }
}
