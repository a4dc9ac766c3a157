import {
  type Client,
  type ClientCapabilities,
  type ElicitRequestParams,
  type LoggingLevel,
  ProtocolError,
} from '@modelcontextprotocol/client'

import type { ListName } from '../inventory/inventory.ts'
import { ownValue } from '../json/own-value.ts'
import { type Mask, maskJson } from '../process/mask-secrets.ts'
import { SlotMap } from '../async/slot-map.ts'
import { applyDefaults } from './apply-defaults.ts'
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
  /** Asked for the kinds in `answered`. */
  readonly callback: ServerRequestCallback
  readonly answered: ReadonlySet<ServerRequestKind>
  /** The capabilities of the client that the callback answers for; undefined: those of this host. */
  readonly capabilities?: ClientCapabilities | undefined
  readonly onListChanged: (list: ListName) => void
  readonly onResourceUpdated: (uri: string) => void
  readonly onLog: (message: ServerLogMessage) => void
  /** Called with the error of a callback for a log message. */
  readonly onLogFailure: (error: unknown) => void
  readonly onElicitationComplete: (elicitationId: string) => void
}

export interface ServerInboxOptions {
  readonly server: string
  /** Configured roots, which the server always gets; when empty, the callback is asked. */
  readonly roots: readonly string[]
  /** Takes the server's secrets out of its log messages. */
  readonly mask: Mask
}

/** Takes what one server sends by itself: requests for input, log messages and notices. */
export class ServerInbox {
  readonly #deps: ServerInboxDeps
  readonly #options: ServerInboxOptions
  readonly #callsUnderWay = new SlotMap<CausingCall>()

  constructor(deps: ServerInboxDeps, options: ServerInboxOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * Listens to a connection that is about to be opened. `hold` keeps the silence of a server that
   * waits for an answer from counting against the calls that it has in hand.
   */
  prepare(client: Client, hold: () => Disposable): void {
    const { answered, onListChanged, onResourceUpdated } = this.#deps
    const answer = async (...question: Question): Promise<never> => {
      using _held = hold()
      return await this.#answer(...question)
    }
    if (answered.has('sampling')) {
      client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) =>
        answer('sampling', params, this.#onlyCall(), mcpReq.signal),
      )
    }
    if (answered.has('elicitation')) {
      client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) =>
        answer('elicitation', params, this.#onlyCall(), mcpReq.signal),
      )
    }
    if (answered.has('roots') || this.#options.roots.length > 0) {
      client.setRequestHandler('roots/list', async (_request, { mcpReq }) =>
        answer('roots', undefined, this.#onlyCall(), mcpReq.signal),
      )
    }
    client.setNotificationHandler('notifications/tools/list_changed', () => onListChanged('tools'))
    client.setNotificationHandler('notifications/prompts/list_changed', () => {
      onListChanged('prompts')
    })
    client.setNotificationHandler('notifications/resources/list_changed', () => {
      onListChanged('resources')
    })
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      onResourceUpdated(params.uri)
    })
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      this.#deps.onElicitationComplete(params.elicitationId)
    })
    client.setNotificationHandler('notifications/message', ({ params }) => {
      const { level, logger, data } = params
      this.#log({ level, data, ...(logger === undefined ? {} : { logger }) })
    })
  }

  /** Remembers a call, as what may have caused a request, until its end. */
  begin(call: CausingCall): number {
    return this.#callsUnderWay.add(call)
  }

  end(key: number): void {
    this.#callsUnderWay.delete(key)
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
    const answers = Object.entries(inputRequests).map(async ([key, request]) => {
      const { method, params } = request as { method?: unknown; params?: unknown }
      const kind = ownValue(KINDS, String(method))
      if (kind === undefined || !this.#isAnswered(kind)) {
        throw new Error(`nobody answers "${String(method)}", which the server asks for`)
      }
      return [key, await this.#answer(kind, params, call, signal)] as const
    })
    return Object.fromEntries(await Promise.all(answers))
  }

  #isAnswered(kind: ServerRequestKind): boolean {
    return this.#deps.answered.has(kind) || (kind === 'roots' && this.#options.roots.length > 0)
  }

  async #answer(...[kind, params, call, signal]: Question): Promise<never> {
    const { server, roots } = this.#options
    if (kind === 'roots' && roots.length > 0) {
      // The client's own types are narrower than what a callback may answer; the SDK checks both.
      return { roots: roots.map((uri) => ({ uri })) } as never
    }
    const from = { server, signal, ...(call === undefined ? {} : { call }) }
    const request = { kind, ...from, ...(kind === 'roots' ? {} : { params }) } as ServerRequest
    const answer = (await this.#deps.callback(request)) ?? declined(kind)
    const isOurs = this.#deps.capabilities === undefined
    const fills = kind === 'elicitation' && isOurs
    return (fills ? applyDefaults(params as ElicitRequestParams, answer) : answer) as never
  }

  #log(said: Omit<ServerLogMessage, 'server'>): void {
    const { server, mask } = this.#options
    const message = { ...said, data: maskJson(said.data, mask) }
    this.#deps.onLog({ server, ...message })
    if (!this.#deps.answered.has('log')) return
    const call = this.#onlyCall()
    const isOutsideCalls = this.#callsUnderWay.size === 0
    const cause = call === undefined ? {} : { call }
    const request = { kind: 'log', server, ...message, isOutsideCalls, ...cause }
    // A notification has no response, so its failure is not reported.
    new Promise((resolve) => {
      resolve(this.#deps.callback(request as ServerRequest))
    }).catch(this.#deps.onLogFailure)
  }

  /** An older server does not say which call made it ask; of one call alone it is certain. */
  #onlyCall(): CausingCall | undefined {
    const [call] = this.#callsUnderWay.size === 1 ? this.#callsUnderWay.values() : []
    return call
  }
}

/** The answer of a callback that has none. Throws for `sampling`, which is declined by an error. */
function declined(kind: Question[0]): object {
  if (kind === 'elicitation') return { action: 'decline' }
  if (kind === 'roots') return { roots: [] }
  throw new ProtocolError(DECLINED, 'the sampling request was declined')
}

/** The code of the specification's example of a declined sampling request. */
const DECLINED = -1

type Question = [
  kind: 'sampling' | 'elicitation' | 'roots',
  params: unknown,
  call: CausingCall | undefined,
  signal: AbortSignal,
]

const KINDS: Readonly<Record<string, 'sampling' | 'elicitation' | 'roots'>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
}
