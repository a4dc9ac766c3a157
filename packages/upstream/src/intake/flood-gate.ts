import { JsonRpcCode } from '@mcp-host/mcp'
import type { JSONRPCMessage, JSONRPCNotification } from '@modelcontextprotocol/client'

import type { Intake } from './intake.ts'

const PROGRESS = 'notifications/progress'
/** The period in which delayed messages are tried again, in milliseconds. */
const RETRY_MS = 100
/** The number of delayed messages with different subjects; further ones are dropped. */
const MAX_HELD = 1_000
/** The length of a string in a delayed message, in UTF-16 units. */
const MAX_HELD_LENGTH = 2_000
/** The error for a server's request over the rate limit. */
const TOO_MANY = {
  code: JsonRpcCode.refused,
  message: 'too many requests at once; try again later',
}

export interface FloodGateDeps {
  readonly intake: Pick<Intake, 'takeNotice' | 'takeRequest' | 'leaveOut'>
  readonly deliver: (message: JSONRPCMessage) => void
  readonly send: (message: JSONRPCMessage) => Promise<void>
}

/**
 * Limits the rate of messages that a server sends by itself. Of progress and of changes of lists and resources, the
 * latest of each subject is delayed; other notifications over the limit are dropped, requests refused.
 */
export class FloodGate implements Disposable {
  readonly #deps: FloodGateDeps
  readonly #held = new Map<string, JSONRPCMessage>()
  #timer: NodeJS.Timeout | undefined
  /** Whether a refusal is being sent. There is one at a time, since a server that does not read could fill the memory. */
  #isRefusing = false

  constructor(deps: FloodGateDeps) {
    this.#deps = deps
  }

  receive(message: JSONRPCMessage): void {
    const { intake, deliver } = this.#deps
    if (!('method' in message) || 'id' in message) {
      if (intake.takeRequest()) return deliver(message)
      intake.leaveOut('requests')
      if ('method' in message) this.#refuse(message.id)
      return
    }
    const subject = subjectOf(message)
    const isHeld = subject !== undefined && this.#held.has(subject)
    if (!isHeld && intake.takeNotice()) return deliver(message)
    // The new message replaces an earlier one with its subject. With too many subjects it is dropped.
    if (subject === undefined || (!isHeld && this.#held.size >= MAX_HELD)) {
      return intake.leaveOut('notices')
    }
    if (isHeld) intake.leaveOut('notices')
    this.#held.set(subject, message)
    this.#timer ??= setInterval(() => this.#retry(), RETRY_MS)
  }

  /** Delivers the delayed progress of a request before its response. */
  releaseProgress(token: string | number): void {
    if (this.#held.size === 0) return
    const subject = `${PROGRESS} ${token}`
    const latest = this.#held.get(subject)
    if (latest === undefined) return
    this.#held.delete(subject)
    this.#deps.deliver(latest)
  }

  /** Drops delayed messages. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#held.clear()
  }

  #retry(): void {
    for (const [subject, message] of this.#held) {
      if (!this.#deps.intake.takeNotice()) return
      this.#held.delete(subject)
      this.#deps.deliver(message)
    }
    this[Symbol.dispose]()
  }

  #refuse(id: string | number): void {
    if (this.#isRefusing) return
    this.#isRefusing = true
    const done = (): void => {
      this.#isRefusing = false
    }
    // A connection that accepts no messages is about to end.
    this.#deps.send({ jsonrpc: '2.0', id, error: TOO_MANY }).then(done, done)
  }
}

/**
 * The subject of a notification that may be delayed: a later one with the same subject replaces it. Undefined for
 * notifications that are not delayed.
 */
function subjectOf({ method, params = {} }: JSONRPCNotification): string | undefined {
  if (method.endsWith('/list_changed')) return method
  const key = SUBJECTS.get(method)
  // Only small notifications are delayed, since many may be.
  if (key === undefined || !Object.values(params).every(isSmall)) return undefined
  return `${method} ${String(params[key])}`
}

const SUBJECTS: ReadonlyMap<string, string> = new Map([
  [PROGRESS, 'progressToken'],
  ['notifications/resources/updated', 'uri'],
])

function isSmall(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_HELD_LENGTH
  return typeof value !== 'object' || value === null
}
