import type { Registry } from 'prom-client'
import { Counter, Gauge, Histogram } from 'prom-client'

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
}

/** A request of a client, once it is answered to the end. */
export interface AnsweredRequest {
  readonly entrance: 'http' | 'mcp'
  /** The route with its HTTP method, or the method of JSON-RPC. */
  readonly method: string
  readonly isError: boolean
  readonly seconds: number
}

/** Clients choose the method, and a label may only have so many values. */
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
])

/** What the gateways count. */
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
  return {
    socketOpened: () => sockets.inc(),
    socketClosed: () => sockets.dec(),
    messageAccepted: () => messages.inc(),
    cancelAccepted: () => cancels.inc(),
    firstText: (seconds) => firstText.observe(seconds),
    mcpSocketOpened: () => mcpSockets.inc(),
    mcpSocketClosed: () => mcpSockets.dec(),
    mcpMessage: (direction) => mcpMessages.inc({ direction }),
    requestAnswered({ entrance, method, isError, seconds }) {
      const isKnown = entrance === 'http' || MCP_METHODS.has(method)
      const outcome = isError ? 'error' : 'ok'
      requests.observe({ entrance, method: isKnown ? method : 'other', outcome }, seconds)
    },
  }
}
