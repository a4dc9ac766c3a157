import type { McpClientRecord } from '@mcp-host/contracts'
import { McpLogLevel } from '@mcp-host/contracts'
import type { RpcRequest } from './classify.ts'
import type { Clients } from './clients.ts'
import { clientOf } from './clients.ts'
import type { Mount } from './mount.ts'
import { checkSubscriptions } from './check-subscriptions.ts'
import { resourceOf } from './passage.ts'
import { RpcCode, RpcFault } from './rpc.ts'
import type { ClientSession } from './session.ts'
import type { Passed, Upstream } from './upstream.ts'

export interface SessionRequestDeps {
  readonly upstream: Upstream
  readonly clients: Clients
}

const DONE: Passed = { type: 'result', json: new TextEncoder().encode('{}') }
const METHODS = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])

/** Whether a request changes what a session is told. */
export function isSessionRequest({ method, era }: RpcRequest): boolean {
  return era === 'legacy' && METHODS.has(method)
}

/** Changes what a session is told from now on. Throws `RpcFault`, or answers with the error of a server. */
export async function changeSession(
  { upstream, clients }: SessionRequestDeps,
  request: RpcRequest,
  { offer }: Mount,
  session: ClientSession | undefined,
): Promise<Passed> {
  const { method, params } = request
  if (session === undefined) {
    const message = `${method} needs the session that initialize began: send its Mcp-Session-Id`
    throw new RpcFault(RpcCode.invalidRequest, message, { status: 400 })
  }
  const { id } = session
  if (method === 'logging/setLevel') {
    const level = McpLogLevel.safeParse(params['level'])
    if (!level.success) {
      const message = `level: must be ${McpLogLevel.options.join(', ')}`
      throw new RpcFault(RpcCode.invalidParams, message)
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
  const { server, name } = resourceOf(request, offer)
  const passed = await upstream.pass(server, {
    method,
    params: { ...params, uri: name },
    era: 'legacy',
    client: clientOf(session, clients),
    ...(offer.isOwn(server) ? { isOwn: true } : {}),
  })
  if (passed.type === 'error') return passed
  await clients.change(id, (record) => ({
    ...record,
    subscriptions: [...without(record, uri), uri],
  }))
  return DONE
}

function without({ subscriptions = [] }: McpClientRecord, uri: string): string[] {
  return subscriptions.filter((each) => each !== uri)
}
