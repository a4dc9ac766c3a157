import { noClients, nothing } from '../core/__fixtures__/no-clients.ts'
import { McpEndpoint } from '../core/endpoint.ts'
import { MergedListing } from '../core/merged-listing.ts'
import { webHandler } from '../web-handler.ts'

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
/** How often a request was ended by its caller. */
let aborted = 0

const handle = webHandler({
  endpoint: new McpEndpoint({
    serverInfo: { name: 'worker', version: '1' },
    clients: noClients,
    signSession: (random) => random,
    upstream: {
      /** Says what it was told; once told to wait, only when the caller has left. */
      async forward(_, { params, listener, signal }) {
        const said = JSON.stringify(params['arguments'])
        listener?.onNotice('notifications/progress', '{"progress":1}')
        if (said !== '"wait"') {
          const content = [{ type: 'text', text: said }]
          return { type: 'result', json: bytes.encode(JSON.stringify({ content })) }
        }
        const left = Promise.withResolvers<never>()
        const end = (): void => {
          aborted++
          left.reject(signal?.reason)
        }
        // A worker hears that its caller has left when it says something.
        const progress = '{"progress":2}'
        const again = setInterval(() => listener?.onNotice('notifications/progress', progress), 20)
        signal?.addEventListener('abort', end)
        if (signal?.aborted === true) end()
        return left.promise.finally(() => clearInterval(again))
      },
      resume: () => Promise.reject(new Error('nothing is kept')),
      answer: () => undefined,
      tell: () => undefined,
      watch: () => nothing,
      onLog: () => nothing,
      listen(_, listener) {
        listener({ method: 'notifications/message', params: { level: 'info', data: 'hi' } })
        return nothing
      },
    },
  }),
  virtualServer: ({ pathname }) =>
    pathname === '/mcp' ? { listing, onChange: () => nothing } : undefined,
})

/** A worker that serves MCP, with a server that it makes up. */
export const worker = {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/aborted') return Response.json(aborted)
    return handle(request)
  },
}
