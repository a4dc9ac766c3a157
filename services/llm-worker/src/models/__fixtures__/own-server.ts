import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'

/** A request that reached the server. */
export interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** A plain HTTP server in place of a provider, for tests that LLMock does not support. */
export interface OwnServer extends AsyncDisposable {
  readonly origin: string
  readonly received: Received[]
  /** Answers a request. */
  answer: (response: ServerResponse, request: Received) => void
}

export async function startOwnServer(): Promise<OwnServer> {
  const server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      const { method, url, headers } = request
      const body: unknown = text === '' ? undefined : JSON.parse(text)
      const received = { method, url, headers, body }
      own.received.push(received)
      own.answer(response, received)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own: OwnServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (response) => void response.writeHead(501).end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return own
}

/** Starts or continues a stream of server-sent events. */
export function sendEvents(response: ServerResponse, text: string | Uint8Array): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(text)
}
