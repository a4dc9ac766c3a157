import { JsonRpcCode } from '@mcp-host/mcp'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

import type { JSONRPCMessage } from '@modelcontextprotocol/client'

import type { Logger } from '@mcp-host/process'
import type { LeftOut } from '../metrics/host-metrics.ts'
import { TokenBucket } from '../policies/token-bucket.ts'
import { inspectJson, JsonInspector, type JsonShape } from '@mcp-host/json'
import type { MessageLimits } from './message-limits.ts'

/** The rate limit for bodies of remote servers and refused messages, which take CPU from other servers: 4 MB/s. */
const READ_BYTES_PER_MS = 4 * 1024
/** The burst of that rate: 2 MB. */
const READ_BURST_MS = 512
/** The least cost of a read, since a read of one byte takes as long as one of many: at most 8,000 reads a second. */
const MIN_READ_BYTES = 512
/** Bytes of large messages between two yields to the event loop. */
const SLICE_BYTES = 64 * 1024
/** Handled messages, or their bytes, between two yields to the event loop. */
const HANDLED_MESSAGES = 256
const HANDLED_BYTES = 256 * 1024
/** The pause after that of a server that sends too much. */
const FLOOD_PAUSE_MS = 10
/** The time for which a server counts as flooding after a dropped message. */
const FLOOD_MS = 1_000
const WINDOW_MS = 60_000
/** The burst, in seconds of the rate. */
const BURST_SECONDS = 3

export interface IntakeDeps {
  readonly limits: MessageLimits
  readonly logger: Logger
  /** Called for each dropped message. */
  readonly onLeftOut: (what: keyof LeftOut, count?: number) => void
  /** Called when the connection has to end: too much was refused, or the remaining bytes cannot be read. */
  readonly onExceeded: (reason: string) => void
  /** A monotonic clock in milliseconds; default `performance.now`. */
  readonly now?: (() => number) | undefined
}

/** A message that must not be parsed. */
export interface RefusedMessage {
  /** The rest of a sentence that begins with "it". */
  readonly reason: string
  readonly shape: Pick<JsonShape, 'id' | 'hasMethod'>
}

/** Applies the limits of messages to one connection. */
export class Intake {
  readonly limits: MessageLimits
  readonly #deps: IntakeDeps
  readonly #now: () => number
  readonly #notices: TokenBucket
  readonly #requests: TokenBucket
  #floodedAt = -Infinity
  #hasWarned = false
  #refusedBytes = 0
  #windowEndsAt = 0
  #bufferedBytes = 0
  /** The time from which the rate limit allows further reads. */
  #readUntil = 0
  #sliceBytes = 0
  /** Since the last yield to the event loop. */
  #handled = { messages: 0, bytes: 0 }

  constructor(deps: IntakeDeps) {
    const { limits, now = () => performance.now() } = deps
    this.#deps = deps
    this.#now = now
    this.limits = limits
    const bucket = (perSecond: number): TokenBucket =>
      new TokenBucket({ perSecond, burst: perSecond * BURST_SECONDS, now })
    this.#notices = bucket(limits.noticesPerSecond)
    this.#requests = bucket(limits.requestsPerSecond)
  }

  /** Whether a message was dropped within the last second, which slows down further reads. */
  get isFlooding(): boolean {
    return this.#now() - this.#floodedAt < FLOOD_MS
  }

  /** Whether one more notification, or invalid line, may be handled. */
  takeNotice(): boolean {
    return this.#notices.take() || this.#flooded()
  }

  /** Counts a line, frame or event without a message. Returns `false`, and counts it as dropped, when there are too many. */
  takeUseless(): boolean {
    const isTaken = this.takeNotice()
    if (!isTaken) this.leaveOut('notices')
    return isTaken
  }

  /** Whether one more request of the server, or unexpected response, may be handled. */
  takeRequest(): boolean {
    return this.#requests.take() || this.#flooded()
  }

  /** Counts dropped messages, and logs the first. */
  leaveOut(what: 'notices' | 'requests'): void {
    this.#flooded()
    this.#deps.onLeftOut(what)
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { noticesPerSecond, requestsPerSecond } = this.limits
    const message = `the server sends more than ${noticesPerSecond} notices or ${requestsPerSecond} requests a second: some are left out`
    this.#deps.logger.warn({ action: 'flood', what }, message)
  }

  /** Inspects a message that arrives in pieces, for `judge`. */
  inspector(): JsonInspector {
    return new JsonInspector(this.limits.messageValues)
  }

  /** Refuses and counts a message that must not be parsed; undefined when it may be. */
  check(bytes: Buffer): RefusedMessage | undefined {
    const { messageDepth, messageValues, messageNames, notificationBytes } = this.limits
    // A shorter message cannot exceed a limit.
    const least = Math.min(2 * messageDepth, messageValues, messageNames, notificationBytes)
    const isShort = bytes.length <= least
    return isShort ? undefined : this.judge(inspectJson(bytes, messageValues), bytes.length)
  }

  /** `check` for an inspected message, or the beginning of one. */
  judge(shape: JsonShape, bytes: number): RefusedMessage | undefined {
    const { messageDepth, messageValues, messageNames, notificationBytes, requestBytes } =
      this.limits
    const { depth, values, names, hasMethod, id } = shape
    const mostBytes = id === undefined ? notificationBytes : requestBytes
    let reason: string | undefined
    if (values > messageValues) {
      reason = `has more than ${messageValues} values and names; ask for less at a time`
    } else if (names > messageNames) {
      reason = `has more than ${messageNames} names in objects; ask for less at a time`
    } else if (depth > messageDepth) {
      reason = `is nested deeper than ${messageDepth} levels`
    } else if (hasMethod && bytes > mostBytes) {
      reason = `has more than ${mostBytes} bytes`
    }
    return reason === undefined ? undefined : this.refuse(reason, shape, bytes)
  }

  /** Counts a refused message, and ends the connection when there are too many. */
  refuse(reason: string, shape: RefusedMessage['shape'], bytes: number): RefusedMessage {
    const { limits, logger, onLeftOut, onExceeded } = this.#deps
    onLeftOut('messages')
    const now = this.#now()
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + WINDOW_MS
      this.#refusedBytes = 0
      logger.warn({ action: 'receive', reason, bytes }, `a message is refused: it ${reason}`)
    }
    this.#refusedBytes += bytes
    if (this.#refusedBytes > limits.refusedBytesPerMinute) {
      onExceeded(`sent messages of ${this.#refusedBytes} bytes within a minute that were refused`)
    }
    return { reason, shape }
  }

  /**
   * Counts buffered bytes of unfinished messages; a negative number counts released bytes. Returns `false` when there
   * are too many.
   */
  hold(bytes: number): boolean {
    this.#bufferedBytes += bytes
    return this.#bufferedBytes <= this.limits.bufferedBytes
  }

  /** Counts a handled message. Returns a promise when the next one has to wait: for the event loop, or longer. */
  handled(bytes: number): Promise<void> | undefined {
    this.#handled.messages += 1
    this.#handled.bytes += bytes
    const { messages, bytes: total } = this.#handled
    if (messages < HANDLED_MESSAGES && total < HANDLED_BYTES) return undefined
    this.#handled = { messages: 0, bytes: 0 }
    return this.isFlooding ? delay(FLOOD_PAUSE_MS) : nextTurn()
  }

  /** Counts a read of bodies and refused messages. Returns a promise when the next read has to wait. */
  pace(bytes: number): Promise<void> | undefined {
    const now = this.#now()
    const cost = Math.max(bytes, MIN_READ_BYTES)
    this.#readUntil = Math.max(now, this.#readUntil) + cost / READ_BYTES_PER_MS
    const waitMs = this.#readUntil - now - READ_BURST_MS
    return waitMs > 0 ? delay(waitMs) : this.slice(bytes)
  }

  /** Counts bytes of large messages. Returns a promise when the event loop must run first. */
  slice(bytes: number): Promise<void> | undefined {
    this.#sliceBytes += bytes
    if (this.#sliceBytes < SLICE_BYTES) return undefined
    this.#sliceBytes = 0
    return nextTurn()
  }

  /** Ends the connection. */
  exceed(reason: string): void {
    this.#deps.onExceeded(reason)
  }

  #flooded(): false {
    this.#floodedAt = this.#now()
    return false
  }
}

/** The error response that replaces a refused response; undefined when it is no response. */
export function inPlaceOf({ reason, shape }: RefusedMessage): JSONRPCMessage | undefined {
  const { id, hasMethod } = shape
  if (id === undefined || hasMethod) return undefined
  return {
    jsonrpc: '2.0',
    id,
    error: { code: JsonRpcCode.refused, message: `the answer ${reason}` },
  }
}

/** The error response to a refused request of the server; undefined when it is no request. */
export function refusalOf({ reason, shape }: RefusedMessage): JSONRPCMessage | undefined {
  const { id, hasMethod } = shape
  if (id === undefined || !hasMethod) return undefined
  return {
    jsonrpc: '2.0',
    id,
    error: { code: JsonRpcCode.refused, message: `the request ${reason}` },
  }
}
