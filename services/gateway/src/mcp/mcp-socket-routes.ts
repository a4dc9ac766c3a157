import type { Principal } from '@mcp-host/contracts'
import type { InFlight } from '@mcp-host/async'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import type { GatewayConfig } from '../config.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import type { AccessPolicy, McpEndpoint, VirtualServer } from '@mcp-host/mcp-endpoint'
import type { McpSocketEvents } from './mcp-socket.ts'
import { serveMcpSocket } from './mcp-socket.ts'
import type { VirtualServers } from './virtual-servers.ts'

export interface McpSocketDeps {
  readonly endpoint: McpEndpoint
  readonly virtualServers: VirtualServers
  readonly policy: Pick<AccessPolicy, 'admit'>
  /** Open sockets, which a drain waits for. */
  readonly passing: InFlight
  /** Aborts when no further socket is taken. */
  readonly draining: AbortSignal
  readonly events: McpSocketEvents
}

/** The whole catalog, each server and each bundle as an MCP server over WebSocket, below its address. */
export async function addMcpSockets(
  app: FastifyInstance,
  { endpoint, virtualServers, policy, passing, draining, events }: McpSocketDeps,
  settings: Pick<GatewayConfig, 'heartbeatMs'>,
): Promise<void> {
  function converse(
    socket: WebSocket,
    principal: Principal,
    virtualServer: VirtualServer | undefined,
  ): void {
    if (virtualServer === undefined)
      return socket.close(1008, 'there is no such MCP server or bundle')
    const passed = passing.begin()
    const over = serveMcpSocket(
      { endpoint, virtualServer, principal, draining, events },
      socket,
      settings,
    )
    void over.finally(() => passed[Symbol.dispose]())
  }

  async function begin(
    socket: WebSocket,
    principal: Principal,
    find: () => VirtualServer | undefined,
  ): Promise<void> {
    // Data that arrives meanwhile stays in the socket.
    socket.pause()
    await virtualServers.settling
    socket.resume()
    converse(socket, principal, policy.admit(principal, find()))
  }

  function add(address: string, find: (params: Params) => VirtualServer | undefined): void {
    app.route({
      method: 'GET',
      url: `${address}/ws`,
      wsHandler: (socket, { params, principal }) =>
        begin(socket, principal, () => find(params as Params)),
      handler: (_, reply) => reply.code(426).header('upgrade', 'websocket').send(ONLY_SOCKETS),
    })
  }

  add('/mcp', () => virtualServers.all())
  add('/mcp/servers/:server', ({ server = '' }) => virtualServers.server(server))
  add('/mcp/bundles/:bundle', ({ bundle = '' }) => virtualServers.bundle(bundle))
}

type Params = Readonly<Record<string, string>>

const ONLY_SOCKETS = {
  jsonrpc: '2.0',
  id: null,
  error: {
    code: JsonRpcCode.invalidRequest,
    message: 'this is a WebSocket endpoint; connect with ws://',
  },
}
