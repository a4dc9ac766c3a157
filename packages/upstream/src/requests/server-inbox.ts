import {
  type Client,
  type ClientCapabilities,
  type ElicitRequestParams,
  type LoggingLevel,
  ProtocolError,
} from '@modelcontextprotocol/client'

import { LIST_NAMES, type ListName } from '../inventory/inventory.ts'
import { type Mask, maskJson } from '../errors/mask-secrets.ts'
import { SlotMap } from '@mcp-host/async'
import { applyDefaults } from './apply-defaults.ts'
import { standardForm } from '../connection/standard-form.ts'
import type {
  CausingCall,
  ServerRequest,
  ServerRequestCallback,
  ServerRequestKind,
} from './server-request.ts'

export interface ServerLogMessage {
  readonly server: string
  readonly level: LoggingLevel
  readonly logger?: string
  readonly data: unknown
}

export interface ServerInboxDeps {
  /** Called for requests of the kinds in `answered`. */
  readonly callback: ServerRequestCallback
  readonly answered: ReadonlySet<ServerRequestKind>
  /** The capabilities of the client for which the callback answers; undefined: those of this host. */
  readonly capabilities?: ClientCapabilities | undefined
  /** The extensions of the protocol that this host declares. */
  readonly extensions?: ClientCapabilities['extensions']
  readonly onListChanged: (list: ListName) => void
  readonly onResourceUpdated: (uri: string) => void
  readonly onLog: (message: ServerLogMessage) => void
  /** Called with the error of a callback for a log message. */
  readonly onLogFailure: (error: unknown) => void
  readonly onElicitationComplete: (elicitationId: string) => void
}

export interface ServerInboxOptions {
  readonly server: string
  /** The configured roots; when empty, the callback is asked. */
  readonly roots: readonly string[]
  /** Masks the server's secrets in its log messages. */
  readonly mask: Mask
}

/** Limit for the input requests of one result. */
const MAX_INPUT_REQUESTS = 100

/** Handles the messages that one server sends by itself: requests for input, log messages and notifications. */
export class ServerInbox {
  readonly #deps: ServerInboxDeps
  readonly #options: ServerInboxOptions
  readonly #callsInFlight = new SlotMap<CausingCall>()

  constructor(deps: ServerInboxDeps, options: ServerInboxOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * Sets the handlers of a connection before it is opened. `hold` pauses the time limits of calls in flight while the
   * server waits for an answer.
   */
  prepare(client: Client, hold: () => Disposable): void {
    for (const [method, kind] of REQUESTS) {
      if (!this.#isAnswered(kind)) continue
      client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
        using _held = hold()
        return await this.#answer(kind, params, this.#onlyCall(), mcpReq.signal)
      })
    }
    for (const list of LIST_NAMES) {
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => {
        this.#deps.onListChanged(list)
      })
    }
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      this.#deps.onResourceUpdated(params.uri)
    })
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      this.#deps.onElicitationComplete(params.elicitationId)
    })
    client.setNotificationHandler('notifications/message', ({ params }) => {
      const { level, logger, data } = params
      this.#log({ level, data, ...(logger === undefined ? {} : { logger }) })
    })
  }

  /** Registers a call that may cause requests of the server. `end` removes it. */
  begin(call: CausingCall): number {
    return this.#callsInFlight.add(call)
  }

  end(key: number): void {
    this.#callsInFlight.delete(key)
  }

  /**
   * Answers all input requests of a result of 2026-07-28. Throws errors of the callback, and for requests without a
   * handler.
   */
  async answerAll(
    inputRequests: Readonly<Record<string, unknown>>,
    call: CausingCall,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const requests = Object.entries(inputRequests)
    if (requests.length > MAX_INPUT_REQUESTS) {
      throw new Error(`${requests.length} are too many at once: at most ${MAX_INPUT_REQUESTS}`)
    }
    const answers = requests.map(async ([key, request]) => {
      const { method, params } = request as { method?: unknown; params?: unknown }
      const kind = KINDS.get(String(method))
      if (kind === undefined || !this.#isAnswered(kind)) {
        throw new Error(`nobody answers "${String(method)}", which the server asks for`)
      }
      if (kind !== 'elicitation') return [key, await this.#answer(kind, params, call, signal)]
      const form = standardForm(params)
      return [key, form.restore(await this.#answer(kind, form.params, call, signal))]
    })
    return Object.fromEntries(await Promise.all(answers))
  }

  #isAnswered(kind: ServerRequestKind): boolean {
    return this.#deps.answered.has(kind) || (kind === 'roots' && this.#options.roots.length > 0)
  }

  async #answer(
    kind: AnswerableKind,
    params: unknown,
    call: CausingCall | undefined,
    signal: AbortSignal,
  ): Promise<never> {
    const { server, roots } = this.#options
    if (kind === 'roots' && roots.length > 0) {
      // Callbacks are untyped, so the result has no type either; the SDK validates it.
      return { roots: roots.map((uri) => ({ uri })) } as never
    }
    const from = { server, signal, ...(call === undefined ? {} : { call }) }
    const request = { kind, ...from, ...(kind === 'roots' ? {} : { params }) } as ServerRequest
    const answer = (await this.#deps.callback(request)) ?? declined(kind)
    // Another client, whose capabilities were given, applies the defaults itself.
    const hasDefaults = kind === 'elicitation' && this.#deps.capabilities === undefined
    return (hasDefaults ? applyDefaults(params as ElicitRequestParams, answer) : answer) as never
  }

  #log(received: Omit<ServerLogMessage, 'server'>): void {
    const { server, mask } = this.#options
    const message = { ...received, data: maskJson(received.data, mask) }
    this.#deps.onLog({ server, ...message })
    if (!this.#deps.answered.has('log')) return
    const call = this.#onlyCall()
    const isOutsideCalls = this.#callsInFlight.size === 0
    const cause = call === undefined ? {} : { call }
    const request = { kind: 'log', server, ...message, isOutsideCalls, ...cause }
    // A notification has no response, so its failure is not reported.
    new Promise((resolve) => {
      resolve(this.#deps.callback(request as ServerRequest))
    }).catch(this.#deps.onLogFailure)
  }

  /** The only call in flight, if there is just one. A legacy server does not name the call that caused a request. */
  #onlyCall(): CausingCall | undefined {
    const [call] = this.#callsInFlight.size === 1 ? this.#callsInFlight.values() : []
    return call
  }
}

/** The answer in place of `undefined`. Throws for `sampling`, which is declined by an error. */
function declined(kind: AnswerableKind): object {
  if (kind === 'elicitation') return { action: 'decline' }
  if (kind === 'roots') return { roots: [] }
  throw new ProtocolError(DECLINED, 'the sampling request was declined')
}

/** The code of the specification's example of a declined sampling request. */
const DECLINED = -1

type AnswerableKind = Exclude<ServerRequestKind, 'log'>

const REQUESTS = [
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
] as const
const KINDS: ReadonlyMap<string, AnswerableKind> = new Map(REQUESTS)
