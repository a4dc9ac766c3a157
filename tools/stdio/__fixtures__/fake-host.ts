import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../../host/listen.ts'

export interface Heard {
  readonly verb: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The method of the message, where it has one. */
  readonly method: string | undefined
  readonly id: unknown
  /** The remote port of the request. */
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

/** A host whose answers the test sets. It answers other messages with 202. */
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
  const boundPort = await listen(server, port)
  const stop = async (): Promise<void> => {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { port: boundPort, heard, stop, [Symbol.asyncDispose]: stop }
}

/** Returned when the test sends no answer, or sends it itself. */
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
