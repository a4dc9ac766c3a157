import type { Bus } from '@mcp-host/bus'
import type { PassHead } from '@mcp-host/contracts'
import { BusError, newEnvelope, passControl, passRequest } from '@mcp-host/contracts'
import { setTimeout as sleep } from 'node:timers/promises'
import { RpcCode, RpcFault } from './core/rpc.ts'
import type { Passed, PassedRequest, Upstream } from './core/upstream.ts'

/** After so much silence whoever runs a request is asked for a sign of life, again and again. */
const PING_MS = 1_500
/** Without one for so long it counts as lost: longer than the broker may be away. */
const QUIET_MS = 6_000
/** How long a request waits for a supervisor that has its server. */
const PATIENCE_MS = 5_000
const RETRY_MS = 100

/** Passes requests on over the bus, to whichever supervisor has the server. */
export class BusUpstream implements Upstream {
  readonly #bus: Pick<Bus, 'id' | 'pass' | 'emit' | 'blobs'>
  #count = 0

  constructor(bus: Pick<Bus, 'id' | 'pass' | 'emit' | 'blobs'>) {
    this.#bus = bus
  }

  async pass(server: string, { params, ...request }: PassedRequest): Promise<Passed> {
    const { method, era, signal, onNotice } = request
    const id = `${this.#bus.id}-${this.#count++}`
    const head: PassHead = { method, id, era, ...(onNotice && { progress: true }) }
    const body = JSON.stringify(params)
    const giveUpAt = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await this.#ask(server, { head, body }, request)
      } catch (error) {
        signal.throwIfAborted()
        // Nobody was there, so nothing was begun.
        const mayWait = BusError.from(error).code === 'unavailable' && performance.now() < giveUpAt
        if (!mayWait) throw toFault(error, server)
        await sleep(RETRY_MS)
      }
    }
  }

  async #ask(
    server: string,
    question: { readonly head: PassHead; readonly body: string },
    { signal, onNotice }: Pick<PassedRequest, 'signal' | 'onNotice'>,
  ): Promise<Passed> {
    const { id } = question.head
    const control = (action: 'cancel' | 'ping'): void =>
      this.#bus.emit(passControl, { server }, { id, action })
    const gone = Promise.withResolvers<never>()
    const onAbort = (): void => {
      control('cancel')
      gone.reject(signal.reason)
    }
    const ping = setInterval(() => control('ping'), PING_MS)
    signal.addEventListener('abort', onAbort)
    try {
      const answered = this.#bus.pass(passRequest, { server }, question, {
        envelope: newEnvelope('local'),
        timeoutMs: QUIET_MS,
        onPart({ head, body }) {
          if (head.type === 'notice') onNotice?.(head.method, Buffer.from(body).toString())
          return head.type === 'notice' || head.type === 'running'
        },
      })
      const { head, body } = await Promise.race([answered, gone.promise])
      if (head.type !== 'stored')
        return { type: head.type === 'error' ? 'error' : 'result', json: body }
      const json = await this.#bus.blobs.get(head.key)
      // Nobody else reads it; what is left ends by itself.
      this.#bus.blobs.remove(head.key).catch(() => undefined)
      return { type: 'result', json }
    } finally {
      clearInterval(ping)
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** Why there was no answer, and whether to ask again. */
function toFault(error: unknown, server: string): RpcFault {
  const { code, message } = BusError.from(error)
  switch (code) {
    case 'unavailable':
      return new RpcFault(
        RpcCode.unavailable,
        `the server "${server}" is not available right now`,
        {
          data: { server, reason: 'unavailable', retryable: true },
        },
      )
    case 'deadline': {
      const lost = `the server "${server}" went away during the request; whether it took effect is not known`
      return new RpcFault(RpcCode.unavailable, lost, {
        data: { server, reason: 'unknown-outcome', retryable: true },
      })
    }
    default:
      return new RpcFault(RpcCode.internal, message, { data: { server } })
  }
}
