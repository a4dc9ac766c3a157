import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Heard {
  readonly verb: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Of the message, where there is one. */
  readonly method: string | undefined
  readonly id: unknown
  /** The port that it came from. */
  readonly from: number | undefined
  readonly reply: ServerResponse
  /** Resolves when the request is over, however it ended. */
  readonly closed: Promise<unknown>
}

export interface FakeHost extends AsyncDisposable {
  readonly port: number
  readonly heard: readonly Heard[]
  /** Ends all connections, and takes no more. */
  stop(): Promise<void>
}

/** A host of which a test says what it answers; what it is not told is taken with 202. */
export async function startFakeHost(
  answer: (heard: Heard) => object | string | undefined | void,
  port = 0,
): Promise<FakeHost> {
  const heard: Heard[] = []
  const server = createServer((request, reply) => {
    void text(request).then((body) => {
      const message = body === '' ? {} : (JSON.parse(body) as { method?: string; id?: unknown })
      const { method, id } = message
      const { method: verb = '', headers } = request
      const closed = once(reply, 'close')
      const from = request.socket.remotePort
      const one = { verb, headers, body, method, id, from, reply, closed }
      heard.push(one)
      const said = answer(one)
      if (reply.headersSent || said === HOLD) return
      if (said === undefined) {
        reply.writeHead(202).end()
        return
      }
      reply.setHeader('content-type', 'application/json')
      reply.end(typeof said === 'string' ? said : JSON.stringify(said))
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = async (): Promise<void> => {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    server.closeAllConnections()
    await closed
  }
  const { port: taken } = server.address() as AddressInfo
  return { port: taken, heard, stop, [Symbol.asyncDispose]: stop }
}

/** An answer that does not come, or that the test writes itself. */
export const HOLD = 'hold'

export const result = (id: unknown, value: object): object => ({
  jsonrpc: '2.0',
  id,
  result: value,
})

export function refuse({ reply, id }: Heard, status: number, code: number, named = true): object {
  reply.statusCode = status
  return { jsonrpc: '2.0', id: named ? (id ?? null) : null, error: { code, message: 'no' } }
}

export function sendEvent({ reply }: Heard, message: object): void {
  if (!reply.headersSent) reply.writeHead(200, { 'content-type': 'text/event-stream' })
  reply.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
}
