import { exposeSamples } from '@mcp-host/service'
import type { Registry } from 'prom-client'
import { Counter, Gauge, Histogram } from 'prom-client'

/** What is counted and measured in a gateway. */
export interface GatewayEvents {
  socketOpened(): void
  socketClosed(): void
  messageAccepted(): void
  cancelAccepted(): void
  firstText(seconds: number): void
  mcpSocketOpened(): void
  mcpSocketClosed(): void
  mcpMessage(direction: 'in' | 'out'): void
  requestAnswered(request: AnsweredRequest): void
  /** A client was authenticated, or refused because of its credential. */
  authenticated(outcome: Authentication): void
  /** An MCP request succeeded after a failure that its caller did not learn of. */
  requestRecovered(by: string): void
  /** The policy denied a tool call. */
  callDenied(): void
}

/** `missing`: there was no credential. `denied`: it was valid and gives no access to the route. */
export type Authentication = 'accepted' | 'missing' | 'refused' | 'denied'

/** A completely answered request of a client. */
export interface AnsweredRequest {
  readonly entrance: 'http' | 'mcp' | 'socket'
  /** The route with its HTTP method, the method of JSON-RPC, or the type of the frame. */
  readonly method: string
  /** `refused`: the client was told to ask otherwise. Answers of JSON-RPC that are no results are errors. */
  readonly outcome: 'ok' | 'refused' | 'error'
  readonly seconds: number
}

/**
 * The methods that label metrics. Clients choose the method of a request, and a label may only have a limited number of
 * values.
 */
export const MCP_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
])

/** The metrics of gateways. */
export function gatewayEvents(registry: Registry): GatewayEvents {
  const registers = [registry]
  const sockets = new Gauge({
    name: 'mcp_host_sockets_connected',
    help: 'Client sockets that are open',
    registers,
  })
  const messages = new Counter({
    name: 'mcp_host_messages_accepted_total',
    help: 'User messages stored in a session log',
    registers,
  })
  const cancels = new Counter({
    name: 'mcp_host_cancels_total',
    help: 'Turns and waiting messages that users cancelled',
    registers,
  })
  const firstText = new Histogram({
    name: 'mcp_host_first_text_seconds',
    help: 'From receiving a user message to the first text of its answer',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const mcpSockets = new Gauge({
    name: 'mcp_host_mcp_sockets_connected',
    help: 'Sockets of MCP clients that are open',
    registers,
  })
  const mcpMessages = new Counter({
    name: 'mcp_host_mcp_socket_messages_total',
    help: 'Messages that came from and went to MCP clients over sockets',
    labelNames: ['direction'],
    registers,
  })
  const requests = new Histogram({
    name: 'mcp_host_request_seconds',
    help: 'From a request of a client to its answer, by entrance, method and outcome',
    labelNames: ['entrance', 'method', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  })
  // Plain numbers, since every request is authenticated.
  const authentications = { accepted: 0, missing: 0, refused: 0, denied: 0 }
  exposeSamples(registry, Counter, {
    name: 'mcp_host_authentications_total',
    help: 'Requests that needed a credential, by what became of it',
    labelNames: ['outcome'],
    read: () => Object.entries(authentications).map(([outcome, count]) => [{ outcome }, count]),
  })
  const denied = new Counter({
    name: 'mcp_host_tool_calls_denied_total',
    help: 'Tool calls of MCP clients that the policy denied',
    registers,
  })
  const recovered = new Counter({
    name: 'mcp_host_mcp_requests_recovered_total',
    help: 'Requests of MCP clients that succeeded after a failure that the client did not learn of, by what repaired it',
    labelNames: ['recovered_by'],
    registers,
  })
  return {
    socketOpened: () => sockets.inc(),
    socketClosed: () => sockets.dec(),
    messageAccepted: () => messages.inc(),
    cancelAccepted: () => cancels.inc(),
    firstText: (seconds) => firstText.observe(seconds),
    mcpSocketOpened: () => mcpSockets.inc(),
    mcpSocketClosed: () => mcpSockets.dec(),
    mcpMessage: (direction) => mcpMessages.inc({ direction }),
    requestAnswered({ entrance, method, outcome, seconds }) {
      const isKnown = entrance !== 'mcp' || MCP_METHODS.has(method)
      requests.observe({ entrance, method: isKnown ? method : 'other', outcome }, seconds)
    },
    authenticated: (outcome) => void (authentications[outcome] += 1),
    requestRecovered: (by) => recovered.inc({ recovered_by: by }),
    callDenied: () => denied.inc(),
  }
}
