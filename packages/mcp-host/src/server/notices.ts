import type { LoggingLevel } from '@modelcontextprotocol/client'

import type { Logger } from '../logger.ts'
import { backoffMs } from '../policies/backoff.ts'
import { pause } from '../async/sleep.ts'
import type { LiveServer } from './live-server.ts'

const LISTEN_BACKOFF = { firstMs: 500, maxMs: 30_000 }

export interface NoticesDeps {
  readonly logger: Logger
  /** Ends all of it. */
  readonly signal: AbortSignal
  /** Notices were missed: what was listed or cached before may be out of date. */
  readonly onMissed: (live: LiveServer) => void
}

/** The notifications wanted from a server, for all instances and restarts. */
export class Wanted {
  readonly uris = new Set<string>()
  /** The log level; undefined: the server's default. */
  loggingLevel: LoggingLevel | undefined
}

/**
 * Requests the notifications of one server: changes of lists and resources, and log messages. They are requested again
 * after every restart, and when their stream breaks.
 */
export class Notices {
  readonly #deps: NoticesDeps
  readonly #wanted: Wanted
  /** One at a time: each request covers everything and replaces the one before. */
  #listening: Promise<unknown> = Promise.resolve()

  constructor(deps: NoticesDeps, wanted: Wanted) {
    this.#deps = deps
    this.#wanted = wanted
  }

  /** The log level, also after restarts; undefined: the server's default. */
  get loggingLevel(): LoggingLevel | undefined {
    return this.#wanted.loggingLevel
  }

  /** A newer server gets it with every call. */
  async setLoggingLevel(live: LiveServer, level: LoggingLevel, timeoutMs: number): Promise<void> {
    await this.#tellLoggingLevel(live, level, timeoutMs)
    this.#wanted.loggingLevel = level
  }

  async subscribe(live: LiveServer, uri: string, timeoutMs: number): Promise<void> {
    if (live.connection.era === 'modern') {
      await this.#listen(live, timeoutMs, uri)
    } else {
      await live.connection.request('resources/subscribe', { uri }, { timeoutMs })
      this.#wanted.uris.add(uri)
    }
  }

  async unsubscribe(live: LiveServer, uri: string, timeoutMs: number): Promise<void> {
    this.#wanted.uris.delete(uri)
    if (live.connection.era === 'modern') await this.#listen(live, timeoutMs)
    else await live.connection.request('resources/unsubscribe', { uri }, { timeoutMs })
  }

  /** Asks a fresh connection for all that is wanted. Never throws: without notices it is of use too. */
  async resume(live: LiveServer, timeoutMs: number): Promise<void> {
    const { era } = live.connection
    const level = this.#wanted.loggingLevel
    const asked =
      era === 'modern'
        ? [this.#listen(live, timeoutMs)]
        : Array.from(this.#wanted.uris, (uri) =>
            live.connection.request('resources/subscribe', { uri }, { timeoutMs }),
          )
    const told = level === undefined ? [] : [this.#tellLoggingLevel(live, level, timeoutMs)]
    await Promise.all([...asked, ...told]).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, 'notices cannot be had')
    })
  }

  /** Asks for all that is wanted, and for `more`, which is wanted from then on. */
  #listen(live: LiveServer, timeoutMs: number, more?: string): Promise<void> {
    const { signal } = this.#deps
    const onEnd = (): void => void this.#listenAgain(live, timeoutMs)
    const listening = this.#listening.then(async () => {
      const uris = new Set(more === undefined ? this.#wanted.uris : [...this.#wanted.uris, more])
      await live.listen([...uris], { signal, timeoutMs, onEnd })
      if (more !== undefined) this.#wanted.uris.add(more)
    })
    // The caller handles the failure.
    this.#listening = listening.catch(() => undefined)
    return listening
  }

  /** Until it works, or the connection is of no use itself. */
  async #listenAgain(live: LiveServer, timeoutMs: number): Promise<void> {
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

  async #tellLoggingLevel(
    { connection }: LiveServer,
    level: LoggingLevel,
    timeoutMs: number,
  ): Promise<void> {
    if (connection.era === 'modern' || connection.capabilities.logging === undefined) return
    await connection.request('logging/setLevel', { level }, { timeoutMs })
  }
}
