import { BusError } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'

/**
 * Refuses WebSockets at addresses that have none; `@fastify/websocket` would open them and close them at once.
 * Addresses of sockets end in `/ws`.
 */
export function refuseUpgrades(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ ws, routeOptions: { url } }) => {
    if (!ws || url === undefined || url.endsWith('/ws')) return
    throw new BusError('invalid', `${url} is no WebSocket endpoint; connect to /ws or /mcp/ws`)
  })
}
