import { once } from 'node:events'
import type { Server } from 'node:http'

import { onTestFinished } from 'vitest'

/** Lets a server listen on a free port of the loopback interface until the test ends. */
export async function listenForTest(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
}
