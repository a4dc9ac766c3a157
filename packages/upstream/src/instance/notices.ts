import type { LoggingLevel } from '@modelcontextprotocol/client'

import type { Logger } from '@mcp-host/process'
import { backoffMs } from '../policies/backoff.ts'
import { pause } from '@mcp-host/async'
import type { Connection } from './connection.ts'

const LISTEN_BACKOFF = { firstMs: 500, maxMs: 30_000 }

export interface NoticesDeps {
  readonly logger: Logger
  /** Ends the subscription and its retries. */
  readonly signal: AbortSignal
  /** Called after missed notifications: lists and cached results may be outdated. */
  readonly onMissed: (live: Connection) => void
}

/** The requested notifications of a server, for all instances and restarts. */
export class RequestedNotices {
  readonly uris = new Set<string>()
  /** The log level; undefined: the server's default. */
  loggingLevel: LoggingLevel | undefined
}

/**
 * Requests the notifications of one server: changes of lists and resources, and log messages. They are requested again
 * after every restart, and when their stream breaks.
 */
export class Notices {
  readonly requested: RequestedNotices
  readonly #deps: NoticesDeps
  /** The last subscription. Subscriptions do not overlap, since each replaces the previous one. */
  #listening: Promise<unknown> = Promise.resolve()

  constructor(deps: NoticesDeps, requested: RequestedNotices) {
    this.#deps = deps
    this.requested = requested
  }

  /** Sets the log level of a legacy server. A modern server gets the level with every call instead. */
  async setLoggingLevel(live: Connection, level: LoggingLevel, timeoutMs: number): Promise<void> {
    await this.#sendLoggingLevel(live, level, timeoutMs)
    this.requested.loggingLevel = level
  }

  async subscribe(live: Connection, uri: string, timeoutMs: number): Promise<void> {
    if (live.connection.era === 'modern') {
      await this.#listen(live, timeoutMs, uri)
    } else {
      await live.connection.request('resources/subscribe', { uri }, { timeoutMs })
      this.requested.uris.add(uri)
    }
  }

  async unsubscribe(live: Connection, uri: string, timeoutMs: number): Promise<void> {
    this.requested.uris.delete(uri)
    if (live.connection.era === 'modern') await this.#listen(live, timeoutMs)
    else await live.connection.request('resources/unsubscribe', { uri }, { timeoutMs })
  }

  /** Requests all notifications over a new connection. Never throws: the server is usable without them. */
  async resume(live: Connection, timeoutMs: number): Promise<void> {
    const { uris, loggingLevel } = this.requested
    const subscriptions =
      live.connection.era === 'modern'
        ? [this.#listen(live, timeoutMs)]
        : Array.from(uris, (uri) => {
            return live.connection.request('resources/subscribe', { uri }, { timeoutMs })
          })
    const level = loggingLevel && this.#sendLoggingLevel(live, loggingLevel, timeoutMs)
    await Promise.all([...subscriptions, level]).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, 'cannot subscribe to notifications')
    })
  }

  /** Subscribes to all requested notifications, and to those of the resource `added`. */
  #listen(live: Connection, timeoutMs: number, added?: string): Promise<void> {
    const { signal } = this.#deps
    const { uris } = this.requested
    const onEnd = (): void => void this.#listenAgain(live, timeoutMs)
    const listening = this.#listening.then(async () => {
      const all = added === undefined ? uris : new Set([...uris, added])
      await live.listen([...all], { signal, timeoutMs, onEnd })
      if (added !== undefined) uris.add(added)
    })
    // The caller handles the failure.
    this.#listening = listening.catch(() => undefined)
    return listening
  }

  /** Subscribes until that succeeds or the connection ends. */
  async #listenAgain(live: Connection, timeoutMs: number): Promise<void> {
    const { signal, logger, onMissed } = this.#deps
    for (let attempt = 0; ; attempt += 1) {
      await pause(backoffMs(attempt, LISTEN_BACKOFF), signal)
      if (signal.aborted || live.ended.aborted) return
      try {
        await this.#listen(live, timeoutMs)
        return onMissed(live)
      } catch (error) {
        logger.debug({ err: error }, 'the stream of notices is still broken')
      }
    }
  }

  async #sendLoggingLevel(
    { connection }: Connection,
    level: LoggingLevel,
    timeoutMs: number,
  ): Promise<void> {
    if (connection.era === 'modern' || connection.capabilities.logging === undefined) return
    await connection.request('logging/setLevel', { level }, { timeoutMs })
  }
}
