import { callerAt } from '@mcp-host/contracts'
import type { JsonRpcRequest } from '../messages/classify.ts'
import type { EndpointRequest } from '../messages/endpoint-request.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { ServerReply, OutgoingRequest, Servers } from '../servers.ts'
import type { AccessPolicy } from './access-policy.ts'
import type { Approvals } from './approvals.ts'
import { policyListener } from './policy-listener.ts'
import type { Route } from './route-request.ts'
import type { OnRead } from './send-route.ts'
import { sendRoute } from './send-route.ts'

export interface AdmitDeps {
  readonly servers: Servers
  /** The policy for the items that principals see and use. Default: all items. */
  readonly policy?: AccessPolicy
  /** Asks users about calls that need an approval by the policy. */
  readonly approvals?: Approvals | undefined
  readonly onRead?: OnRead | undefined
}

export interface AdmittedRequest extends Pick<
  OutgoingRequest,
  'client' | 'signal' | 'listener' | 'isResumable'
> {
  readonly request: JsonRpcRequest
  readonly exchange: EndpointRequest
  readonly listing: MergedListing
}

/** Sends a request to its server. A tool call is sent once the policy, the limits and, where needed, its user allow it. */
export function admit(
  { servers, approvals, policy, onRead }: AdmitDeps,
  route: Route,
  { request, exchange, listing, client, signal, listener, isResumable }: AdmittedRequest,
): Promise<ServerReply> {
  const { method, era } = request
  const { principal } = exchange
  // A modern client cancels by closing the stream. For a legacy client, a broken HTTP connection has no meaning.
  const mayLeave = era === 'modern' || exchange.message !== undefined
  const about = {
    method,
    era,
    traceparent: exchange.header('traceparent'),
    caller: callerAt(exchange.message === undefined ? 'mcp' : 'mcp-ws', principal),
    client,
    signal: signal ?? (mayLeave ? exchange.signal : undefined),
    listener,
    isResumable,
  }
  const send = (): Promise<ServerReply> => sendRoute({ servers, listing, onRead }, route, about)
  if (method !== 'tools/call' || policy === undefined || approvals === undefined) return send()
  const sendAllowed = (allowed: Route, confirm?: string): Promise<ServerReply> => {
    const { server } = allowed.place
    const asked =
      listener === undefined || client === undefined
        ? listener
        : policyListener(
            { servers, policy, listener },
            { principal, server, client: client.id, listing },
          )
    return sendRoute({ servers, listing }, allowed, { ...about, confirm, listener: asked })
  }
  const pass = ({ effect }: { readonly effect: string }): Promise<ServerReply> =>
    effect === 'allow' ? send() : approvals.pass(route, listing, about, sendAllowed)
  const verdict = policy.admitCall(principal, route, listing)
  return verdict instanceof Promise ? verdict.then(pass) : pass(verdict)
}
