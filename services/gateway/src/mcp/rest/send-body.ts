import type { Principal } from '@mcp-host/contracts'
import { callerAt, OPTIONS_META_KEY } from '@mcp-host/contracts'
import type { Verdict } from '@mcp-host/policy'
import type { InFlight } from '@mcp-host/async'
import type { FastifyReply } from 'fastify'
import { sentArguments } from '@mcp-host/upstream/arguments'
import {
  type AccessPolicy,
  sendRoute,
  JsonRpcError,
  MAX_REQUEST_BYTES,
  type MergedListing,
  type OnRead,
  retryUntilListed,
  type Route,
  sentRoute,
  type Servers,
  type OnRecovered,
} from '@mcp-host/mcp-endpoint'
import type { ApprovalQueue } from '../../approvals/approval-queue.ts'
import type { RestRequest } from './find-route.ts'
import { findRoute, mayBeListedLater } from './find-route.ts'
import type { FindServersDeps } from './find-servers.ts'
import { findServers } from './find-servers.ts'
import type { JsonRpcErrorBody } from './rest-fault.ts'
import { failed, needsApproval, notApproved, refused, RestFault, unanswered } from './rest-fault.ts'
import type { Handling } from './rest-schemas.ts'
import { sendJson } from './send-json.ts'
import { untilDisconnected } from './until-disconnected.ts'

export interface SendBodyDeps extends FindServersDeps {
  readonly servers: Servers
  readonly onRead?: OnRead | undefined
  readonly onRecovered?: OnRecovered
  readonly queue: Pick<ApprovalQueue, 'ask' | 'use'>
  /** Requests in flight, which a drain waits for. */
  readonly passing: InFlight
}

const text = new TextDecoder()

/** Sends the body of a route to its server as a request of MCP, and returns the reply unchanged. */
export async function sendBody(
  deps: SendBodyDeps,
  reply: FastifyReply,
  method: RestRequest['method'],
  body: RestRequest['params'] & Handling & { readonly approval?: string | undefined },
): Promise<FastifyReply> {
  try {
    const { servers, passing, policy, onRead } = deps
    const { headers, principal } = reply.request
    const request = toRequest(method, body)
    checkSize(request)
    const { route: asked, listing } = await findServer(deps, principal, request, body.server)
    const { server } = asked.place
    let route = asked
    if (method === 'tools/call') {
      const { effect } = await admitCall(policy, principal, route, listing)
      if (effect === 'approve') {
        route = await sentRoute(sentArguments, asked, listing)
        await checkApproval(deps, principal, route, body.approval)
      }
    }
    const { traceparent } = headers
    const trace = typeof traceparent === 'string' ? { traceparent } : {}
    const { timeoutMs } = body
    const answer = await untilDisconnected(reply, { passing, timeoutMs }, (signal) =>
      sendRoute({ servers, listing, onRead }, route, {
        method,
        era: 'legacy',
        caller: callerAt('rest', principal),
        signal,
        ...trace,
      }).catch((error: unknown) => {
        throw error instanceof JsonRpcError ? unanswered({ method, server }, error) : error
      }),
    )
    if (answer.isRefused === true) throw refused(server, JSON.parse(text.decode(answer.json)))
    if (answer.type === 'result') return sendJson(reply, Buffer.from(answer.json))
    const failure = JSON.parse(text.decode(answer.json)) as JsonRpcErrorBody
    throw failed({ method, server }, failure)
  } catch (error) {
    if (error instanceof RestFault) return error.reply(reply)
    throw error
  }
}

/** The MCP request for a body. Its priority and retries go into `_meta`. */
function toRequest(
  method: RestRequest['method'],
  body: Parameters<typeof sendBody>[3],
): RestRequest {
  const { server: _server, timeoutMs: _, approval: _approval, priority, retry, ...params } = body
  const options = {
    ...(priority === undefined ? {} : { priority }),
    ...(retry === undefined ? {} : { retry }),
  }
  const hasOptions = Object.keys(options).length > 0
  const meta = hasOptions ? { _meta: { [OPTIONS_META_KEY]: options } } : {}
  return { method, params: { ...params, ...meta } }
}

/** The verdict about a call. Throws `RestFault` for a denied call. */
async function admitCall(
  policy: AccessPolicy,
  principal: Principal,
  route: Route,
  listing: MergedListing,
): Promise<Verdict> {
  try {
    return await policy.admitCall(principal, route, listing)
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error
    throw new RestFault(403, `name: ${error.message}`, { field: 'name' })
  }
}

/** Uses up the approval of a call. A call without an approval is queued, and a `RestFault` is thrown. */
async function checkApproval(
  { queue }: SendBodyDeps,
  principal: Principal,
  { place, params }: Route,
  id: string | undefined,
): Promise<void> {
  const caller = callerAt('rest', principal)
  const call = { server: place.server, tool: place.name, arguments: params['arguments'] ?? {} }
  try {
    const waiting =
      id === undefined ? await queue.ask(caller, call) : await queue.use(caller, id, call)
    if (waiting !== undefined) throw needsApproval(place, waiting)
  } catch (error) {
    throw notApproved(error)
  }
}

/** Finds the server, and waits for a server that is starting. Throws `RestFault`. */
async function findServer(
  deps: SendBodyDeps,
  principal: Principal,
  request: RestRequest,
  server: string | undefined,
): Promise<{ readonly route: Route; readonly listing: MergedListing }> {
  await deps.virtualServers.settling
  const servers = findServers(deps, principal, server)
  const find = (): { route: Route; listing: MergedListing } => {
    const { listing } = servers
    return { route: findRoute(request, listing), listing }
  }
  try {
    return find()
  } catch (failure) {
    const { onRecovered } = deps
    return retryUntilListed(servers, find, { failure, isWorthIt: mayBeListedLater, onRecovered })
  }
}

/** Throws `RestFault` for parameters that are too large or too deep to be serialised again. */
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
