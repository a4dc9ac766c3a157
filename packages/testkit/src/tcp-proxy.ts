import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** A load balancer: each connection goes to the next target that accepts it. */
export interface TcpProxy extends AsyncDisposable {
  readonly url: string
  /** Sets the URLs that connections go to. */
  route(...targets: string[]): void
  /** Does the same, and closes the connections to the URLs from before. */
  reset(...targets: string[]): void
}

export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let targets: readonly string[] = []
  let next = 0
  const forward = (client: Socket, tries: number): void => {
    const target = targets[next++ % Math.max(1, targets.length)]
    if (target === undefined || tries > targets.length) return void client.destroy()
    const { hostname, port } = new URL(target)
    const upstream = connect(Number(port), hostname)
    upstream.once('error', () => forward(client, tries + 1))
    upstream.once('connect', () => {
      upstream.removeAllListeners('error')
      upstream.on('error', () => client.destroy())
      upstream.on('close', () => client.destroy())
      client.on('close', () => upstream.destroy())
      client.pipe(upstream).pipe(client)
    })
  }
  const server = createServer((client) => {
    sockets.add(client)
    client.on('close', () => sockets.delete(client))
    client.on('error', () => client.destroy())
    forward(client, 1)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    route: (...urls) => (targets = urls),
    reset(...urls) {
      targets = urls
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
