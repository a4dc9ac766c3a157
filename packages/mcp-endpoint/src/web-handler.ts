import type { Principal } from '@mcp-host/contracts'
import type { EndpointReply } from './streams/endpoint-reply.ts'
import { failed } from './streams/endpoint-reply.ts'
import type { McpEndpoint } from './endpoint.ts'
import { MAX_REQUEST_BYTES } from './messages/limits.ts'
import type { VirtualServer } from './listing/virtual-server.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './messages/json-rpc.ts'

/** Each piece counts as at least this. */
const MIN_PIECE_BYTES = 64

export interface WebHandlerDeps {
  readonly endpoint: McpEndpoint
  /** The virtual server at an address. */
  readonly virtualServer: (url: URL) => VirtualServer | undefined
  /** The client of a request. Throws or rejects when the request must be refused. */
  readonly principalOf: (request: Request) => Principal | Promise<Principal>
  /** Aborts when endless streams must end. Absent in runtimes that keep no state between requests. */
  readonly closing?: AbortSignal
}

/** The endpoint for runtimes with the `Request` and `Response` of the web. It needs nothing else of the runtime. */
export function webHandler({
  endpoint,
  virtualServer: find,
  principalOf,
  closing,
}: WebHandlerDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const virtualServer = find(new URL(request.url))
    if (virtualServer === undefined) return refusal(404, 'there is no such MCP server')
    const principal = await principalOf(request)
    const body = await readBody(request)
    if (body === undefined) return refusal(413, `the body has at most ${MAX_REQUEST_BYTES} bytes`)
    const left = new AbortController()
    const leave = (): void => left.abort()
    request.signal.addEventListener('abort', leave)
    if (request.signal.aborted) leave()
    const reply = await endpoint.handle(
      {
        method: request.method,
        principal,
        header: (name) => request.headers.get(name) ?? undefined,
        body,
        signal: left.signal,
        closing: closing ?? new AbortController().signal,
      },
      virtualServer,
    )
    return toResponse(reply, leave)
  }
}

/** Reads the body. `undefined`: it is too large. */
async function readBody({ body }: Request): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let memory = 0
  for await (const piece of body ?? []) {
    memory += Math.max(MIN_PIECE_BYTES, piece.length)
    if (memory > MAX_REQUEST_BYTES) return undefined
    pieces.push(piece)
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer())
}

function toResponse({ status, headers, body }: EndpointReply, leave: () => void): Response {
  if (body === undefined) return new Response(null, { status, headers })
  if (body instanceof Uint8Array)
    return new Response(body as Uint8Array<ArrayBuffer>, { status, headers })
  return new Response(streamOf(body, leave), { status, headers })
}

/** A stream that is pulled by its reader. Not every runtime has `ReadableStream.from`. */
function streamOf(body: AsyncIterable<Uint8Array>, leave: () => void): ReadableStream<Uint8Array> {
  const events = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    cancel() {
      leave()
      // The source ends later, and no caller waits for it.
      void events.return?.()
    },
  })
}

function refusal(status: number, message: string): Response {
  const { body, headers } = failed(null, new JsonRpcError(JsonRpcCode.invalidRequest, message))
  return new Response(body as Uint8Array<ArrayBuffer>, { status, headers })
}
