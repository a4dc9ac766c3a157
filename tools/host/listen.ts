import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { createServer } from 'node:net'

/** Lets a server listen on loopback, by default at a free port. Resolves with the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen({ host: '127.0.0.1', port, backlog: 4_096 })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** The number of a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  await using server = createServer()
  return await listen(server)
}
