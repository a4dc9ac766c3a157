import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request as sendRequest } from 'node:http'
import { listen } from '../tools/host/listen.ts'

export interface Balancer extends AsyncDisposable {
  readonly url: string
}

export interface BalancerOptions {
  /** Refuses requests of revision 2026-07-28 and later, as older servers do. */
  readonly isLegacy?: boolean
}

/**
 * Forwards requests to the servers in turn, without sticky sessions. Keeps the `Host` header, because the servers
 * validate it.
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
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
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

/** Answers as the SDK of older servers does. */
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
    headers: endToEnd(request.headers),
    ...(method === undefined ? {} : { method }),
  })
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers))
    // A stream of events may be silent for long, and its reader waits for the headers.
    response.flushHeaders()
    answer.on('error', () => response.destroy())
    answer.pipe(response)
  })
  onward.on('error', () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  })
  // The server must learn of a client that leaves early.
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

/** The headers without those of the connection. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const ofConnection = new Set(['connection', 'keep-alive'])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))
}
