import type { ServerResponse } from 'node:http'

/** A client takes nothing of its answer for so long, or twice as long: Node.js waits anew after bytes that left late. */
const UNREAD_MS = 30_000

/**
 * Closes the connection of a finished answer that its client does not read, since the connection holds the rest of it.
 * Handlers may take any time, and streams have limits of their own.
 */
export function closeUnread(response: ServerResponse, unreadMs = UNREAD_MS): void {
  // The socket restarts its timer at each part that the client takes.
  response.setTimeout(unreadMs, () => {
    if (response.writableEnded) response.destroy()
  })
}
