import { LOCAL } from '@mcp-host/contracts'
import { noClients, nothing } from './no-clients.ts'
import { McpEndpoint } from '../src/endpoint.ts'
import { MergedListing } from '../src/listing/merged-listing.ts'
import { signSession } from './test-sessions.ts'
import { webHandler } from '../src/web-handler.ts'

const bytes = new TextEncoder()
const listing = new MergedListing(
  [
    {
      server: 'stub',
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      prompts: [],
      resources: [],
      resourceTemplates: [],
    },
  ],
  ({ name }) => name,
)
/** Requests that were aborted by their callers. */
let aborted = 0

const handle = webHandler({
  principalOf: () => LOCAL,
  endpoint: new McpEndpoint({
    serverInfo: { name: 'worker', version: '1' },
    clients: noClients,
    signSession,
    servers: {
      /** Echoes the arguments; with "wait" as arguments it ends only when the caller leaves. */
      async send(_, { params, listener, signal }) {
        const args = JSON.stringify(params['arguments'])
        listener?.onNotice('notifications/progress', '{"progress":1}')
        if (args !== '"wait"') {
          const content = [{ type: 'text', text: args }]
          return { type: 'result', json: bytes.encode(JSON.stringify({ content })) }
        }
        const left = Promise.withResolvers<never>()
        const end = (): void => {
          aborted++
          left.reject(signal?.reason)
        }
        // A worker runtime reports a closed connection only at a write.
        const progress = '{"progress":2}'
        const timer = setInterval(() => listener?.onNotice('notifications/progress', progress), 20)
        signal?.addEventListener('abort', end)
        if (signal?.aborted === true) end()
        return left.promise.finally(() => clearInterval(timer))
      },
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      onLog: () => nothing,
      listen(_, listener) {
        const params = { level: 'info', data: 'hi' }
        listener({ server: 'stub', method: 'notifications/message', params })
        return nothing
      },
    },
  }),
  virtualServer: ({ pathname }) =>
    pathname === '/mcp' ? { listing, onChange: () => nothing } : undefined,
})

/** A worker that serves MCP with a server of its own. */
export const worker = {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/aborted') return Response.json(aborted)
    return handle(request)
  },
}
