import type { Caller } from '@mcp-host/contracts'
import { LOG_LEVELS } from '@mcp-host/contracts'
import type { CancelSignal } from '@mcp-host/async'
import type { JsonRpcRequest } from '../messages/classify.ts'
import type { SubscriptionCount } from '../messages/check-subscriptions.ts'
import { checkSubscriptions } from '../messages/check-subscriptions.ts'
import type { Clients } from '../sessions/clients.ts'
import type { EndpointRequest } from '../messages/endpoint-request.ts'
import type { EventQueue } from './event-queue.ts'
import type { ChangingList } from './notification-stream.ts'
import { NotificationStream } from './notification-stream.ts'
import { event, OPENED, outgoing, success } from './messages.ts'
import type { VirtualServer } from '../listing/virtual-server.ts'
import type { ClientVirtualServers } from '../listing/client-virtual-servers.ts'
import type { Params } from '../messages/json-rpc.ts'
import { isObject } from '@mcp-host/json'
import { JsonRpcCode, MetaKey } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import type { ClientSession } from '../sessions/session.ts'
import type { ClientMessage, ServerLog, Servers } from '../servers.ts'

export interface StreamLimits {
  /** Counts an endless stream over HTTP until disposed. Throws `exhausted`. `undefined`: there is no limit. */
  stream(caller: Pick<Caller, 'id'>): Disposable | undefined
}

export interface FeedStreamDeps {
  readonly servers: Servers
  readonly clients: Clients
  readonly clientVirtualServers?: ClientVirtualServers
  readonly limits?: StreamLimits | undefined
  /** What the client may see. */
  readonly see: (whole: VirtualServer) => VirtualServer
  readonly open: () => EventQueue
  /** The events of log messages. All streams share them, since encoding a large one for each would take long. */
  readonly logEvents: WeakMap<ServerLog, Uint8Array>
}

/** The request of a stream, with the signals that end the stream. */
interface Ends extends Pick<EndpointRequest, 'principal' | 'message'> {
  /** Aborts when the caller has left. */
  readonly signal: CancelSignal
  /** Aborts when this gateway ends. */
  readonly closing: AbortSignal
}

const ALL_LISTS: readonly ChangingList[] = ['tools', 'prompts', 'resources']

const bytes = new TextEncoder()

/** The stream of notifications for a legacy client outside of its requests. */
export function sessionStream(
  { servers, clients, clientVirtualServers, limits, see, open, logEvents }: FeedStreamDeps,
  ends: Ends,
  shared: VirtualServer,
  { id }: ClientSession,
): EventQueue {
  return openStream({ open, limits }, ends, (queue, stack) => {
    const send = ({ method, params, ask }: ClientMessage): void =>
      queue.put(event(outgoing(method, params && JSON.stringify(params), ask)))
    stack.use(clients.hold(id))
    const virtualServer = see(
      clientVirtualServers === undefined
        ? shared
        : stack.use(clientVirtualServers.follow(id, shared)),
    )
    const stream = stack.use(
      new NotificationStream({ virtualServer, servers, lists: ALL_LISTS, client: id, send }),
    )
    const update = (): void => {
      const { isOver = false, subscriptions = [] } = clients.record(id)
      stream.watch(subscriptions)
      if (isOver) queue.end()
    }
    const isSeen = (server: string): boolean =>
      virtualServer.listing.servers.some((each) => each.server === server)
    stack.use(
      servers.listen(id, (message) => {
        if (isSeen(message.server)) send(message)
      }),
    )
    stack.use(
      servers.onLog((log) => {
        const { server, level, params } = log
        if (!isSeen(server)) return
        const { logLevel = 'debug' } = clients.record(id)
        if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(logLevel)) return
        const said =
          logEvents.get(log) ?? event(outgoing('notifications/message', JSON.stringify(params)))
        logEvents.set(log, said)
        queue.putReplaceable(said)
      }),
    )
    stack.use(clients.onChange(update))
    update()
  })
}

/** The stream of changes that a modern client subscribes to. Throws `JsonRpcError`. */
export function subscriptionStream(
  {
    servers,
    open,
    limits,
    subscriptions,
  }: Pick<FeedStreamDeps, 'servers' | 'open' | 'limits'> & {
    readonly subscriptions: SubscriptionCount
  },
  ends: Ends,
  virtualServer: VirtualServer,
  { id, params }: JsonRpcRequest,
): EventQueue {
  const { notifications: wanted } = params
  if (!isObject(wanted)) {
    throw new JsonRpcError(JsonRpcCode.invalidParams, 'notifications: must say what is wanted')
  }
  const lists = ALL_LISTS.filter((list) => wanted[`${list}ListChanged`] === true)
  const uris = virtualServer.listing.can('resources', 'subscribe') ? wantedResources(wanted) : []
  const accepted = {
    ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
  }
  const _meta = { [MetaKey.subscriptionId]: id }
  return openStream({ open, limits }, ends, (queue, stack) => {
    stack.use(subscriptions.take(ends.principal.id, uris.length))
    const send = ({ method, params: said = {} }: ClientMessage): void =>
      queue.put(event(outgoing(method, JSON.stringify({ ...said, _meta }))))
    send({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: accepted },
    })
    stack.use(new NotificationStream({ virtualServer, servers, lists, send })).watch(uris)
    const result = bytes.encode(JSON.stringify({ resultType: 'complete', _meta }))
    const end = (): void => queue.put(event(success(id, result)))
    ends.closing.addEventListener('abort', end)
    stack.defer(() => ends.closing.removeEventListener('abort', end))
  })
}

/** Messages over a socket count as that socket, and not as streams. */
function openStream(
  { open, limits }: Pick<FeedStreamDeps, 'open' | 'limits'>,
  { signal, closing, principal, message }: Ends,
  fill: (queue: EventQueue, stack: DisposableStack) => void,
): EventQueue {
  using opening = new DisposableStack()
  if (message === undefined) opening.use(limits?.stream(principal))
  const queue = open()
  opening.defer(() => queue.end())
  fill(queue, opening)
  const stack = opening.move()
  const ends = [signal, closing]
  const end = (): void => {
    // One of the signals outlives the stream by far.
    for (const over of ends) over.removeEventListener('abort', end)
    stack.dispose()
  }
  for (const over of ends) over.addEventListener('abort', end)
  if (signal.aborted || closing.aborted) end()
  queue.put(OPENED)
  return queue
}

function wantedResources({ resourceSubscriptions: uris }: Params): string[] {
  const wanted = Array.isArray(uris) ? uris.filter((each) => typeof each === 'string') : []
  checkSubscriptions(wanted, 'notifications.resourceSubscriptions')
  return wanted
}
