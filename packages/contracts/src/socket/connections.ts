import { z } from 'zod'
import { defineEvent } from '../contract.ts'
import { SessionId } from '../ids.ts'

/** One open socket of a session. */
export const ConnectionInfo = z.object({
  clientId: z.string(),
  /** Bus id of its gateway. */
  gateway: z.string(),
  /** Epoch milliseconds. */
  connectedAt: z.number(),
  lastActiveAt: z.number(),
  userAgent: z.string(),
})
export type ConnectionInfo = z.infer<typeof ConnectionInfo>

/** Asks all gateways for the open sockets of a session. Gateways that have some answer with `connectionsFound`. */
export const findConnections = defineEvent('gw.connections.find', {
  from: ['gateway'],
  to: ['gateway'],
  durability: 'live',
  payload: z.object({ id: z.string(), session: SessionId }),
})

/** Answers `findConnections` with the open sockets of a session at one gateway. */
export const connectionsFound = defineEvent('gw.connections.found', {
  from: ['gateway'],
  to: ['gateway'],
  durability: 'live',
  /** `id`: the id of `findConnections`. */
  payload: z.object({ id: z.string(), connections: z.array(ConnectionInfo) }),
})
