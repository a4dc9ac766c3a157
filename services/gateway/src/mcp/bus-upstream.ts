import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus, Frame } from '@mcp-host/bus'
import type { PassHead, PassReply } from '@mcp-host/contracts'
import { BusError, newEnvelope, passControl, passRequest } from '@mcp-host/contracts'
import { RpcCode, RpcFault } from './core/rpc.ts'
import type { Passed, PassedRequest, Upstream } from './core/upstream.ts'

/** After so much silence whoever runs a request is asked for a sign of life, again and again. */
const PING_MS = 1_500
/** Without one for so long it counts as lost: longer than the broker may be away. */
const QUIET_MS = 6_000
/** How long a request waits for a supervisor that has its server. */
const PATIENCE_MS = 5_000
const RETRY_MS = 100

type UpstreamBus = Pick<Bus, 'id' | 'pass' | 'emit' | 'blobs'>

/** Passes requests on over the bus, to whichever supervisor has the server. */
export class BusUpstream implements Upstream {
  readonly #bus: UpstreamBus
  #count = 0

  constructor(bus: UpstreamBus) {
    this.#bus = bus
  }

  async pass(server: string, { params, ...request }: PassedRequest): Promise<Passed> {
    const { method, era, onNotice } = request
    const id = `${this.#bus.id}-${this.#count++}`
    const head: PassHead = { method, id, era, ...(onNotice && { progress: true }) }
    const answer = await this.#deliver(server, { head, body: JSON.stringify(params) }, request)
    if (answer.head.type === 'error') return { type: 'error', json: answer.body }
    if (answer.head.type !== 'stored') return { type: 'result', json: answer.body }
    const { key } = answer.head
    try {
      return { type: 'result', json: await this.#bus.blobs.get(key) }
    } catch (error) {
      throw unknownOutcome(server, `its result cannot be read: ${BusError.from(error).message}`)
    } finally {
      this.#forget(key)
    }
  }

  /** Asks until somebody takes it; once it was taken, never again. */
  async #deliver(
    server: string,
    question: Question,
    request: Pick<PassedRequest, 'signal' | 'onNotice'>,
  ): Promise<Frame<PassReply>> {
    const giveUpAt = performance.now() + PATIENCE_MS
    for (;;) {
      request.signal?.throwIfAborted()
      try {
        return await this.#ask(server, question, request)
      } catch (error) {
        request.signal?.throwIfAborted()
        // Nobody was there, so nothing was begun.
        const mayWait = BusError.from(error).code === 'unavailable' && performance.now() < giveUpAt
        if (!mayWait) throw toFault(error, server)
        await sleep(RETRY_MS)
      }
    }
  }

  async #ask(
    server: string,
    question: Question,
    { signal, onNotice }: Pick<PassedRequest, 'signal' | 'onNotice'>,
  ): Promise<Frame<PassReply>> {
    const control = (action: 'cancel' | 'ping'): void =>
      this.#bus.emit(passControl, { server }, { id: question.head.id, action })
    const ping = setInterval(() => control('ping'), PING_MS)
    const answered = this.#bus.pass(passRequest, { server }, question, {
      // Whoever finds it later than we wait must not begin it.
      envelope: { ...newEnvelope('local'), deadline: Date.now() + QUIET_MS },
      timeoutMs: QUIET_MS,
      onPart({ head, body }) {
        if (head.type === 'notice') onNotice?.(head.method, Buffer.from(body).toString())
        return head.type === 'notice' || head.type === 'running'
      },
    })
    try {
      if (signal === undefined) return await answered
      const left = Promise.withResolvers<never>()
      const onAbort = (): void => {
        control('cancel')
        left.reject(signal.reason)
        // It may have been too late for that.
        answered.then(
          ({ head }) => head.type === 'stored' && this.#forget(head.key),
          () => undefined,
        )
      }
      signal.addEventListener('abort', onAbort)
      try {
        return await Promise.race([answered, left.promise])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    } finally {
      clearInterval(ping)
    }
  }

  /** Nobody else reads it; what is left ends by itself. */
  #forget(key: string): void {
    this.#bus.blobs.remove(key).catch(() => undefined)
  }
}

interface Question {
  readonly head: PassHead
  readonly body: string
}

/** Why there was no answer, and whether it may be asked again. */
function toFault(error: unknown, server: string): RpcFault {
  const { code, message } = BusError.from(error)
  if (code === 'deadline') return unknownOutcome(server, 'it went away during the request')
  if (code !== 'unavailable') return new RpcFault(RpcCode.internal, message, { data: { server } })
  return new RpcFault(RpcCode.unavailable, `the server "${server}" is not available right now`, {
    data: { server, reason: 'unavailable', retryable: true },
  })
}

function unknownOutcome(server: string, why: string): RpcFault {
  const message = `whether the request took effect at the server "${server}" is not known: ${why}`
  return new RpcFault(RpcCode.unavailable, message, {
    data: { server, reason: 'unknown-outcome', retryable: false },
  })
}
