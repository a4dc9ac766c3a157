import { z } from 'zod'
import { defineBucket } from '../bucket.ts'

/** The pause of a server with whose calls supervisors died. */
export const ServerPause = z.object({
  /** Epoch milliseconds, by the broker's clock, until which no supervisor runs the server. */
  until: z.number(),
  /** The number of its pauses in the last hour; each is twice as long as the one before. */
  times: z.number().int().positive(),
})
export type ServerPause = z.infer<typeof ServerPause>

/** Has a record, under the name of the server, for an hour after each pause. */
export const serverPauses = defineBucket('SERVER_PAUSES', {
  record: ServerPause,
  what: 'paused MCP servers',
})
