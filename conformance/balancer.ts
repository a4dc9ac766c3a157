import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Balancer extends AsyncDisposable {
  readonly url: string
}

export interface BalancerOptions {
  /** Whether the servers shall seem to know no revision from 2026-07-28 on. */
  readonly isLegacy?: boolean
}

/**
 * Gives each request to the next server in turn, from any client: nothing holds a client to the
 * server it began with. The `Host` header stays as it was, for it is what servers are to judge.
 */
export async function startBalancer(
  urls: readonly string[],
  { isLegacy = false }: BalancerOptions = {},
): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  let turn = 0
  const server = createServer((request, response) => {
    const next = urls[turn++ % urls.length]
    if (next === undefined) response.writeHead(502).end()
    else if (isLegacy && isModern(request)) refuse(request, response)
    else forward(request, response, new URL(request.url ?? '/', next), agent)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Not a pipe's name: it listens on a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function isModern({ headers }: IncomingMessage): boolean {
  return String(headers['mcp-protocol-version'] ?? '') >= '2026-07-28'
}

/** As the SDK of older servers does. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  const error = { code: -32_000, message: 'Bad Request: Unsupported protocol version' }
  request.resume()
  response.writeHead(400, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
}

function forward(request: IncomingMessage, response: ServerResponse, url: URL, agent: Agent): void {
  const { method } = request
  const onward = sendRequest(url, {
    agent,
    headers: ofMessage(request.headers),
    ...(method === undefined ? {} : { method }),
  })
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, ofMessage(answer.headers))
    // A stream of events may be silent for long: its reader has to know that it is there.
    response.flushHeaders()
    answer.on('error', () => response.destroy())
    answer.pipe(response)
  })
  onward.on('error', () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  })
  // Also when the client left in the middle: the server has to hear of it.
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

/** Without what belongs to a connection. */
function ofMessage(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const ofConnection = new Set(['connection', 'keep-alive'])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))
}
