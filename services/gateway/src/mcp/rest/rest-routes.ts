import type { CatalogView } from '@mcp-host/bus'
import { OPTIONS_META_KEY } from '@mcp-host/contracts'
import type { InFlight } from '@mcp-host/service'
import type { FastifyReply } from 'fastify'
import type { Api } from '../../edge/api.ts'
import { jsonAnswer } from '../../edge/api.ts'
import type { MergedListing } from '../core/merged-listing.ts'
import type { ListName } from '../core/server-listing.ts'
import { forwardRoute } from '../core/forward-route.ts'
import type { Route } from '../core/route-request.ts'
import type { Approvals } from '../core/approvals.ts'
import { JsonRpcError } from '../core/json-rpc.ts'
import { retryUntilListed } from '../core/retry-until-listed.ts'
import type { Upstream } from '../core/upstream.ts'
import { MAX_REQUEST_BYTES } from '../core/limits.ts'
import type { VirtualServers } from '../virtual-servers.ts'
import type { RestRequest } from './find-route.ts'
import { findRoute, mayBeListedLater } from './find-route.ts'
import type { JsonRpcErrorBody } from './rest-fault.ts'
import { failed, needsApproval, refused, RestFault, unanswered } from './rest-fault.ts'
import {
  CallBody,
  ListBody,
  LISTS,
  PromptBody,
  PromptResult,
  ReadBody,
  ReadResult,
  restFaults,
  ToolResult,
} from './rest-schemas.ts'
import { untilLeft } from './until-disconnected.ts'

export interface RestRoutesDeps {
  readonly virtualServers: VirtualServers
  readonly catalog: CatalogView
  readonly upstream: Upstream
  /** Set where tools require the approval of a user. */
  readonly approvals?: Approvals | undefined
  /** Requests under way, to be waited for. */
  readonly passing: InFlight
}

const tags = ['mcp']
/** Bodies up to this size are read so that their sender sees the error; larger ones are cut off. */
const bodyLimit = 2 * MAX_REQUEST_BYTES
const text = new TextDecoder()

/** The tools, prompts and resources of all MCP servers over plain HTTP and JSON. */
export function addRestRoutes(api: Api, deps: RestRoutesDeps): void {
  addLists(api, deps)

  api.post(
    '/mcp/tools/call',
    {
      bodyLimit,
      schema: {
        tags,
        operationId: 'callTool',
        summary: 'Call a tool',
        description:
          'A tool that fails has answered: 200 with `isError`. Leaving cancels the call at its server.',
        body: CallBody,
        response: { 200: jsonAnswer('What it answered.', ToolResult), ...restFaults('servers') },
      },
    },
    async ({ body }, reply) => pass(deps, reply, toRequest('tools/call', body), body.timeoutMs),
  )

  api.post(
    '/mcp/prompts/get',
    {
      bodyLimit,
      schema: {
        tags,
        operationId: 'getPrompt',
        summary: 'Get a prompt',
        body: PromptBody,
        response: { 200: jsonAnswer('The prompt.', PromptResult), ...restFaults('servers') },
      },
    },
    async ({ body }, reply) => pass(deps, reply, toRequest('prompts/get', body), body.timeoutMs),
  )

  api.post(
    '/mcp/resources/read',
    {
      bodyLimit,
      schema: {
        tags,
        operationId: 'readResource',
        summary: 'Read a resource',
        body: ReadBody,
        response: { 200: jsonAnswer('What it has.', ReadResult), ...restFaults('servers') },
      },
    },
    async ({ body }, reply) => pass(deps, reply, toRequest('resources/read', body), body.timeoutMs),
  )
}

function addLists(api: Api, { virtualServers }: RestRoutesDeps): void {
  const lists: readonly [string, ListName, string, string][] = [
    ['/mcp/tools/list', 'tools', 'listTools', 'List the tools of all MCP servers'],
    ['/mcp/prompts/list', 'prompts', 'listPrompts', 'List their prompts'],
    ['/mcp/resources/list', 'resources', 'listResources', 'List their resources'],
    [
      '/mcp/resources/templates/list',
      'resourceTemplates',
      'listResourceTemplates',
      'List the templates of resources that can be read',
    ],
  ]
  for (const [url, list, operationId, summary] of lists) {
    api.post(
      url,
      {
        bodyLimit,
        schema: {
          tags,
          operationId,
          summary,
          body: ListBody,
          response: { 200: jsonAnswer('A page.', LISTS[list]), ...restFaults('lists') },
        },
      },
      async ({ body: { cursor } }, reply) => {
        await virtualServers.settling
        const page = virtualServers.all().listing.page(list, cursor, 'legacy')
        if (page !== undefined) return sendJson(reply, `{${page}}`)
        const message = 'cursor: leads nowhere; begin without one'
        return new RestFault(400, message, { field: 'cursor' }).reply(reply)
      },
    )
  }
}

/** The request of MCP that a body asks for; how it is handled goes with it. */
function toRequest(
  method: RestRequest['method'],
  body: CallBody | PromptBody | ReadBody,
): RestRequest {
  const { timeoutMs: _, priority, retry, ...params } = body
  const options = {
    ...(priority === undefined ? {} : { priority }),
    ...(retry === undefined ? {} : { retry }),
  }
  const hasOptions = Object.keys(options).length > 0
  const meta = hasOptions ? { _meta: { [OPTIONS_META_KEY]: options } } : {}
  return { method, params: { ...params, ...meta } }
}

/** Forwards a request to its server and returns the reply unchanged. */
async function pass(
  { virtualServers, catalog, upstream, passing, approvals }: RestRoutesDeps,
  reply: FastifyReply,
  request: RestRequest,
  timeoutMs: number | undefined,
): Promise<FastifyReply> {
  const { method } = request
  try {
    checkSize(request)
    const { route, listing } = await findServer(virtualServers, catalog, request)
    const { server } = route.place
    if (method === 'tools/call' && approvals?.isNeeded(route, listing) === true) {
      throw needsApproval(route.place)
    }
    const { traceparent } = reply.request.headers
    const trace = typeof traceparent === 'string' ? { traceparent } : {}
    const forwarded = await untilLeft(reply, { passing, timeoutMs }, (signal) =>
      forwardRoute({ upstream, listing }, route, { method, era: 'legacy', signal, ...trace }).catch(
        (error: unknown) => {
          throw error instanceof JsonRpcError ? unanswered({ method, server }, error) : error
        },
      ),
    )
    if (forwarded.isRefused === true) throw refused(server, JSON.parse(text.decode(forwarded.json)))
    if (forwarded.type === 'result') return sendJson(reply, Buffer.from(forwarded.json))
    const failure = JSON.parse(text.decode(forwarded.json)) as JsonRpcErrorBody
    throw failed({ method, server }, failure)
  } catch (error) {
    if (error instanceof RestFault) return error.reply(reply)
    throw error
  }
}

/** Waits for a server that is just starting. Throws `RestFault`. */
async function findServer(
  virtualServers: VirtualServers,
  { entries }: CatalogView,
  request: RestRequest,
): Promise<{ readonly route: Route; readonly listing: MergedListing }> {
  await virtualServers.settling
  const all = virtualServers.all()
  const find = (): { route: Route; listing: MergedListing } => {
    const { listing } = all
    return { route: findRoute(request, listing, entries.values()), listing }
  }
  try {
    return find()
  } catch (failure) {
    return retryUntilListed(all, find, { failure, isWorthIt: mayBeListedLater })
  }
}

/** Written anew it may be longer than it came, or too deep to be written at all. Throws `RestFault`. */
function checkSize({ params }: RestRequest): void {
  let bytes: number
  try {
    bytes = Buffer.byteLength(JSON.stringify(params))
  } catch {
    throw new RestFault(400, 'arguments: nested too deeply', { field: 'arguments' })
  }
  if (bytes <= MAX_REQUEST_BYTES) return
  throw new RestFault(413, 'arguments: too large; send less', { field: 'arguments' })
}

function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json').send(json)
}
