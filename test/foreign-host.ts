import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A host that nothing may reach, and the paths that were asked of it. */
export interface ForeignHost extends AsyncDisposable {
  readonly url: string
  readonly hits: readonly string[]
}

export async function startForeignHost(): Promise<ForeignHost> {
  const hits: string[] = []
  const server = createServer(({ url = '' }, response) => {
    hits.push(url)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
