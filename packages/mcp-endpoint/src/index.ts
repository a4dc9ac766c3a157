export type { DuplexSessionDeps } from './duplex-session.ts'
export { DuplexSession } from './duplex-session.ts'
export { McpEndpoint } from './endpoint.ts'
export type { Bundle } from './listing/bundle.ts'
export { bundleListing } from './listing/bundle.ts'
export type { ClientListings } from './listing/client-virtual-servers.ts'
export { ClientVirtualServers } from './listing/client-virtual-servers.ts'
export { privately } from './listing/list-caching.ts'
export { listedNames } from './listing/listed-names.ts'
export { MergedListing } from './listing/merged-listing.ts'
export type { ItemAddress, ListName, ServerListing } from './listing/server-listing.ts'
export type { MissingServer, VirtualServer } from './listing/virtual-server.ts'
export { classify, idOf } from './messages/classify.ts'
export type { EndpointRequest } from './messages/endpoint-request.ts'
export type { JsonRpcId, Params } from './messages/json-rpc.ts'
export { JsonRpcError } from './messages/json-rpc.ts'
export { MAX_REQUEST_BYTES } from './messages/limits.ts'
export { parseMessage } from './messages/parse-message.ts'
export type { SignSession } from './messages/signed-id.ts'
export { isSigned, signedId } from './messages/signed-id.ts'
export { StateSeal } from './messages/state-seal.ts'
export { LEGACY_VERSIONS, MODERN_VERSIONS } from './messages/versions.ts'
export { AccessPolicy } from './route/access-policy.ts'
export { Approvals } from './route/approvals.ts'
export type { OnRead } from './route/send-route.ts'
export { sendRoute } from './route/send-route.ts'
export { retryUntilListed } from './route/retry-until-listed.ts'
export type { Route } from './route/route-request.ts'
export { mayBeListedLater, routeRequest } from './route/route-request.ts'
export { sentRoute } from './route/sent-route.ts'
export { SharedRequests } from './route/shared-requests.ts'
export type { Clients } from './sessions/clients.ts'
export type { EndpointReply, WholeReply } from './streams/endpoint-reply.ts'
export { JSON_TYPE, failed } from './streams/endpoint-reply.ts'
export { eventIds, readEventId } from './streams/event-id.ts'
export type {
  ServerReply,
  OnRecovered,
  OutgoingRequest,
  ReplyListener,
  ResumePoint,
  ResumedRequest,
  ServerLog,
  ServerMessage,
  Servers,
  WatchRequest,
} from './servers.ts'
export { MOVED } from './servers.ts'
