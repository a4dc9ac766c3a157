import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Blast } from './blast.ts'

const CONNECTIONS = 60
const MIB = 1024 * 1024

/** Bodies that cost a gateway more than their sender, over many connections at once. */
export const gatewayFloods: Readonly<Record<string, Blast>> = {
  'one-byte-chunks': bodies('/mcp', async (socket) => {
    const chunks = '1\r\nx\r\n'.repeat(2_000)
    if (!socket.write(chunks)) await once(socket, 'drain')
    await delay(20)
  }),
  'slow-bodies': bodies('/mcp', async (socket) => {
    socket.write('1\r\nx\r\n')
    await delay(500)
  }),
  'unfinished-uploads': bodies(`/api/chat/session/${'a'.repeat(32)}/file`, async (socket) => {
    if (socket.bytesWritten < 18 * MIB) {
      const piece = 'x'.repeat(MIB)
      if (!socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`)) await once(socket, 'drain')
    }
    await delay(20)
  }),
}

/** Requests to an address whose bodies never end; `more` sends the next part of one. */
function bodies(path: string, more: (socket: Socket) => Promise<void>): Blast {
  return {
    victim: 'gateway',
    async strike({ url }, signal) {
      let answered = ''
      const { hostname, port } = new URL(url)
      const flood = async (): Promise<void> => {
        while (!signal.aborted) {
          const socket = connect(Number(port), hostname)
          // Being cut off is what is to happen.
          socket.on('error', () => undefined)
          socket.on('data', (data) => (answered = String(data).slice(0, 100)))
          const stop = (): void => void socket.destroy()
          signal.addEventListener('abort', stop, { once: true })
          socket.write(
            `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
          )
          const closed = once(socket, 'close')
          while (!socket.destroyed) await Promise.race([more(socket).catch(stop), closed])
          signal.removeEventListener('abort', stop)
          await delay(50)
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, flood))
      return answered
    },
  }
}
