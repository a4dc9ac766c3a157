import type { GatewayLimits } from './gateway-limits.ts'

export type ClientLimits = Pick<
  GatewayLimits,
  'addressOf' | 'connection' | 'request' | 'message' | 'toolCall' | 'socket' | 'stream' | 'list'
>

/** Limits that are never reached. */
export const UNLIMITED: ClientLimits = {
  addressOf: ({ socket }) => socket.remoteAddress ?? '',
  connection: () => undefined,
  request: () => undefined,
  message: async () => undefined,
  toolCall: () => undefined,
  socket: () => undefined,
  stream: () => undefined,
  list: async () => [],
}
