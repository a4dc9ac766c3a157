import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
// oxlint-disable-next-line no-restricted-imports -- only tests import this file
import { listenForTest } from '@mcp-host/mcp-testkit'
import { type CallToolResult, Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'

import type { WebOptions } from '../web-options.ts'
import { createWebServer } from '../index.ts'

/** A client of the server for the web. */
export async function openWeb(options: WebOptions): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1.0.0' })
  await createWebServer(options, '1.0.0').connect(far)
  await client.connect(near)
  onTestFinished(() => client.close())
  return client
}

export interface Site {
  readonly origin: string
  /** The paths that were asked for. */
  readonly requests: string[]
}

/** An HTTP server on the loopback interface. */
export async function openSite(listener: RequestListener): Promise<Site> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    listener(request, response)
  })
  await listenForTest(server)
  // A listening TCP server has a port.
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, requests }
}

/** A site of one answer. */
export function openPage(body: string | Uint8Array, contentType = 'text/html'): Promise<Site> {
  return openSite((_, response) => {
    response.setHeader('content-type', contentType).end(body)
  })
}

interface FetchFromOptions extends Pick<WebOptions, 'limits'> {
  readonly path?: string
  readonly format?: 'markdown' | 'text' | 'raw'
}

/** Calls `web_fetch` at a site, which is allowed. */
export async function fetchFrom(
  { origin }: Site,
  { path = '/', limits = {}, format = 'markdown' }: FetchFromOptions = {},
): Promise<CallToolResult> {
  const client = await openWeb({ allowedOrigins: [origin], limits })
  return client.callTool({ name: 'web_fetch', arguments: { url: `${origin}${path}`, format } })
}
