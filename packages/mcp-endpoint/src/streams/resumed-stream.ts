import { Cancellation } from '@mcp-host/async'
import type { Clients } from '../sessions/clients.ts'
import { failed } from './endpoint-reply.ts'
import type { EndpointRequest } from '../messages/endpoint-request.ts'
import { isPrimed } from '../messages/endpoint-request.ts'
import type { LastEvent } from './event-id.ts'
import type { EventQueue } from './event-queue.ts'
import { withLinks } from '../route/send-route.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import { OPENED, toMessage } from './messages.ts'
import { policyListener } from '../route/policy-listener.ts'
import { RequestStream } from './request-stream.ts'
import type { ClientSession } from '../sessions/session.ts'
import type { AccessPolicy } from '../route/access-policy.ts'
import type { Servers } from '../servers.ts'
import { CANCELLED, MOVED } from '../servers.ts'
import type { VirtualServer } from '../listing/virtual-server.ts'

export interface ResumedStreamDeps {
  readonly servers: Servers
  readonly clients: Clients
  readonly policy?: AccessPolicy | undefined
  readonly streamMs: number
  readonly open: () => EventQueue
}

/** Resumes the stream of a request for a client that reconnects with its last event id. Throws `JsonRpcError`. */
export function resumedStream(
  { servers, clients, policy, streamMs, open }: ResumedStreamDeps,
  last: LastEvent,
  { header, closing, principal }: EndpointRequest,
  { listing }: VirtualServer,
  { id: client }: ClientSession,
): EventQueue {
  const { kept, request: id, number: after } = last
  if (after === 'end') {
    const message = 'Last-Event-ID: names the last event of the stream'
    // With this status, clients do not reconnect.
    throw new JsonRpcError(JsonRpcCode.unavailable, message, { status: 405 })
  }
  const signal = new Cancellation()
  const cancel = clients.onCancel(client, id, () => signal.cancel(CANCELLED))
  const stream = new RequestStream({
    ...last,
    isPrimed: isPrimed(header),
    limitMs: streamMs,
    closing,
    open,
  })
  const events = stream.events()
  events.put(OPENED)
  // Sent again, since some clients forget their position when this stream breaks, too.
  stream.onResumable(kept, after)
  const { server } = kept
  const listener = policyListener(
    { servers, policy, listener: stream },
    { principal, server, client, listing },
  )
  servers
    .resume(kept, { client, caller: principal, after, signal, listener })
    .then(
      (answer) => stream.end(toMessage(id, withLinks(answer, listing, kept.server))),
      (error: unknown) => (error === MOVED ? stream.stop() : stream.end(failed(id, error).body)),
    )
    .finally(() => cancel[Symbol.dispose]())
  return events
}
