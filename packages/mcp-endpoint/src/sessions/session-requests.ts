import type { McpClientRecord } from '@mcp-host/contracts'
import { McpLogLevel } from '@mcp-host/contracts'
import type { JsonRpcRequest } from '../messages/classify.ts'
import type { Clients } from './clients.ts'
import { clientOf } from './clients.ts'
import type { VirtualServer } from '../listing/virtual-server.ts'
import { checkSubscriptions } from '../messages/check-subscriptions.ts'
import { routeResource } from '../route/route-request.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import type { ClientSession } from './session.ts'
import type { ServerReply, Servers } from '../servers.ts'

export interface SessionRequestDeps {
  readonly servers: Servers
  readonly clients: Clients
}

const DONE: ServerReply = { type: 'result', json: new TextEncoder().encode('{}') }
const METHODS = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])

/** Whether a request changes the notifications of a session. */
export function isSessionRequest({ method, era }: JsonRpcRequest): boolean {
  return era === 'legacy' && METHODS.has(method)
}

/** Changes the notifications of a session. Throws `JsonRpcError`, or returns the error of a server. */
export async function changeSession(
  { servers, clients }: SessionRequestDeps,
  request: JsonRpcRequest,
  { listing }: VirtualServer,
  session: ClientSession | undefined,
): Promise<ServerReply> {
  const { method, params } = request
  if (session === undefined) {
    const message = `${method} needs the session that initialize began: send its Mcp-Session-Id`
    throw new JsonRpcError(JsonRpcCode.invalidRequest, message, { status: 400 })
  }
  const { id } = session
  if (method === 'logging/setLevel') {
    const level = McpLogLevel.safeParse(params['level'])
    if (!level.success) {
      const message = `level: must be ${McpLogLevel.options.join(', ')}`
      throw new JsonRpcError(JsonRpcCode.invalidParams, message)
    }
    await clients.change(id, (record) => ({ ...record, logLevel: level.data }))
    return DONE
  }
  const uri = String(params['uri'])
  if (method === 'resources/unsubscribe') {
    await clients.change(id, (record) => ({ ...record, subscriptions: without(record, uri) }))
    return DONE
  }
  checkSubscriptions([...without(clients.record(id), uri), uri], 'uri')
  const { server, name } = routeResource(request, listing)
  const answer = await servers.send(server, {
    method,
    params: { ...params, uri: name },
    era: 'legacy',
    client: clientOf(session, clients),
    ...(listing.isOwn(server) ? { isOwn: true } : {}),
  })
  if (answer.type === 'error') return answer
  await clients.change(id, (record) => ({
    ...record,
    subscriptions: [...without(record, uri), uri],
  }))
  return DONE
}

function without({ subscriptions = [] }: McpClientRecord, uri: string): string[] {
  return subscriptions.filter((each) => each !== uri)
}
