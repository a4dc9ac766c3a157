import type { JSONRPCMessage, JSONRPCNotification } from '@modelcontextprotocol/client'

import type { Intake } from './intake.ts'

const PROGRESS = 'notifications/progress'
/** The period in which delayed messages are tried again, in milliseconds. */
const RETRY_MS = 100
/** The number of delayed messages with different subjects; further ones are dropped. */
const MAX_HELD = 1_000
/** The length of a text in a delayed message, in UTF-16 units. */
const MAX_HELD_LENGTH = 2_000
/** The error for a server's request over the rate limit. */
const TOO_MANY = { code: -32_000, message: 'too many requests at once; try again later' }

export interface FloodGateDeps {
  readonly intake: Pick<Intake, 'takeNotice' | 'takeRequest' | 'leaveOut'>
  readonly deliver: (message: JSONRPCMessage) => void
  readonly send: (message: JSONRPCMessage) => Promise<void>
}

/**
 * Lets through what a server sends by itself, as often as it may. Of progress, changes of lists and of resources the
 * latest of each subject is held back until it may pass; other notifications are left out, requests refused.
 */
export class FloodGate implements Disposable {
  readonly #deps: FloodGateDeps
  readonly #held = new Map<string, JSONRPCMessage>()
  #timer: NodeJS.Timeout | undefined
  /** One refusal at a time: a server that reads none must not fill memory with them. */
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
    // The latest takes the place of those before it, unless there are too many subjects.
    if (subject === undefined || (!isHeld && this.#held.size >= MAX_HELD)) {
      return intake.leaveOut('notices')
    }
    if (isHeld) intake.leaveOut('notices')
    this.#held.set(subject, message)
    this.#timer ??= setInterval(() => this.#retry(), RETRY_MS)
  }

  /** Delivers the progress of a request that is held back: its answer comes next. */
  releaseProgress(token: string | number): void {
    if (this.#held.size === 0) return
    const subject = `${PROGRESS} ${token}`
    const latest = this.#held.get(subject)
    if (latest === undefined) return
    this.#held.delete(subject)
    this.#deps.deliver(latest)
  }

  /** Delayed messages are dropped. */
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
    // A connection that takes nothing is about to end.
    this.#deps.send({ jsonrpc: '2.0', id, error: TOO_MANY }).then(done, done)
  }
}

/** By which a later notification takes the place of an earlier one; undefined for those that are not held back. */
function subjectOf({ method, params = {} }: JSONRPCNotification): string | undefined {
  const isList = method.endsWith('/list_changed')
  if (isList) return method
  const key = SUBJECTS.get(method)
  // Held back are many, and so only small ones.
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
