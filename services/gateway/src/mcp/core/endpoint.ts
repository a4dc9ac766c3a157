import type { Incoming, McpHeaders, RpcRequest } from './classify.ts'
import { classify, idOf } from './classify.ts'
import { event, failure, joined, notification, success, toMessage } from './messages.ts'
import type { ListName, Offer } from './offer.ts'
import type { Passage } from './passage.ts'
import { passageOf } from './passage.ts'
import type { Params, RpcId } from './rpc.ts'
import { isObject, RpcCode, RpcFault } from './rpc.ts'
import type { Passed, PassedRequest, Upstream } from './upstream.ts'
import { MODERN_VERSIONS, negotiated } from './versions.ts'

/** A request of HTTP, in plain values. */
export interface McpExchange {
  readonly method: string
  readonly header: (name: string) => string | undefined
  readonly body: Uint8Array
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal
}

/** Its answer. A stream is one of server-sent events. */
export interface McpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
}

export interface EndpointDeps {
  readonly upstream: Upstream
  /** As others are to know us. */
  readonly serverInfo: { readonly name: string; readonly version: string }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Some proxies hold back what they may.
  'x-accel-buffering': 'no',
}
/** So many notices wait for who reads them. */
const MAX_NOTICES = 100
/** More messages in one request are somebody's mistake. */
const MAX_BATCH = 100

const text = new TextDecoder('utf-8', { fatal: true })
const bytes = new TextEncoder()

/** Answers what MCP clients of both eras ask, for one mount. It knows no Node, no bus and no other request. */
export class McpEndpoint {
  readonly #deps: EndpointDeps

  constructor(deps: EndpointDeps) {
    this.#deps = deps
  }

  async handle(exchange: McpExchange, offer: Offer): Promise<McpReply> {
    const { method, header, body } = exchange
    if (method !== 'POST') return notAllowed()
    let message: unknown
    try {
      checkTypes(header)
      message = parse(body)
      const headers = {
        version: header('mcp-protocol-version')?.trim(),
        method: header('mcp-method')?.trim(),
        name: header('mcp-name')?.trim(),
      }
      if (Array.isArray(message)) return await this.#batch(message, headers, exchange, offer)
      const incoming = classify(message, headers)
      if (incoming.kind !== 'request') return { status: 202, headers: {} }
      return await this.#answer(incoming, exchange, offer)
    } catch (error) {
      const fault = toFault(error)
      return { status: fault.status, headers: JSON_TYPE, body: failure(idOf(message), fault) }
    }
  }

  async #answer(request: RpcRequest, exchange: McpExchange, offer: Offer): Promise<McpReply> {
    const passage = passageOf(request, offer)
    if (passage === undefined) {
      const result = bytes.encode(this.#own(request, offer))
      return { status: 200, headers: JSON_TYPE, body: success(request.id, result) }
    }
    const token = progressToken(request.params)
    if (token === undefined) {
      const passed = await this.#pass(passage, request, exchange)
      return { status: 200, headers: JSON_TYPE, body: toMessage(request.id, passed) }
    }
    return this.#stream(passage, request, exchange, token)
  }

  /** Begins a stream once there is something to say before the answer. */
  async #stream(
    passage: Passage,
    request: RpcRequest,
    exchange: McpExchange,
    token: RpcId,
  ): Promise<McpReply> {
    const notices: Uint8Array[] = []
    let wake = Promise.withResolvers<void>()
    const onNotice = (method: string, params: string): void => {
      notices.push(event(notification(method, token, params)))
      // Who reads slowly sees how far it is now.
      if (notices.length > MAX_NOTICES) notices.shift()
      wake.resolve()
    }
    const answered = this.#pass(passage, request, exchange, onNotice)
      .then((passed) => toMessage(request.id, passed))
      .catch((error: unknown) => failure(request.id, toFault(error)))
    let answer: Uint8Array | undefined
    void answered.then((message) => {
      answer = message
      wake.resolve()
    })
    await wake.promise
    if (notices.length === 0) {
      return { status: 200, headers: JSON_TYPE, body: await answered }
    }
    async function* events(): AsyncGenerator<Uint8Array> {
      for (;;) {
        for (let next; (next = notices.shift()) !== undefined;) yield next
        if (answer !== undefined) return yield event(answer)
        wake = Promise.withResolvers<void>()
        await wake.promise
      }
    }
    return { status: 200, headers: EVENT_STREAM, body: events() }
  }

  /** All at once, as 2025-03-26 has it; what it asks for is answered in one message. */
  async #batch(
    messages: readonly unknown[],
    headers: McpHeaders,
    exchange: McpExchange,
    offer: Offer,
  ): Promise<McpReply> {
    const isRight = messages.length > 0 && messages.length <= MAX_BATCH
    if (!isRight) {
      const message = `a batch has 1 to ${MAX_BATCH} messages`
      throw new RpcFault(RpcCode.invalidRequest, message, { status: 400 })
    }
    const incoming = messages.map((message): Incoming => classify(message, headers))
    if (incoming.some((each) => each.kind !== 'response' && each.era === 'modern')) {
      const message = 'from 2026-07-28 on there are no batches'
      throw new RpcFault(RpcCode.invalidRequest, message, { status: 400 })
    }
    const requests = incoming.filter((each) => each.kind === 'request')
    if (requests.length === 0) return { status: 202, headers: {} }
    const answers = await Promise.all(
      requests.map(async (request) => {
        try {
          const passage = passageOf(request, offer)
          if (passage === undefined)
            return success(request.id, bytes.encode(this.#own(request, offer)))
          return toMessage(request.id, await this.#pass(passage, request, exchange))
        } catch (error) {
          return failure(request.id, toFault(error))
        }
      }),
    )
    return { status: 200, headers: JSON_TYPE, body: joined('[', answers, ']') }
  }

  #pass(
    { place, params }: Passage,
    { method, era }: RpcRequest,
    { signal }: McpExchange,
    onNotice?: PassedRequest['onNotice'],
  ): Promise<Passed> {
    return this.#deps.upstream.pass(place.server, {
      method,
      params,
      era,
      // Closing the stream is how a newer client cancels; to an older one a break means nothing.
      ...(era === 'modern' ? { signal } : {}),
      ...(onNotice === undefined ? {} : { onNotice }),
    })
  }

  /** What we answer ourselves, as JSON. Throws `RpcFault`. */
  #own({ method, params, era }: RpcRequest, offer: Offer): string {
    const list = LISTS.get(method)
    if (list !== undefined) return this.#list(list, params, era, offer)
    const isOlder = era === 'legacy'
    if (isOlder && method === 'initialize') {
      return JSON.stringify({
        protocolVersion: negotiated(params['protocolVersion']),
        ...this.#about(offer),
        serverInfo: this.#deps.serverInfo,
      })
    }
    if (isOlder && method === 'ping') return '{}'
    if (!isOlder && method === 'server/discover') {
      return this.#modern({ ...FRESH, supportedVersions: MODERN_VERSIONS, ...this.#about(offer) })
    }
    const status = isOlder ? 200 : 404
    throw new RpcFault(RpcCode.methodNotFound, `Method not found: ${method}`, { status })
  }

  #list(list: ListName, params: Params, era: RpcRequest['era'], offer: Offer): string {
    const { cursor } = params
    const page =
      cursor === undefined || typeof cursor === 'string' ? offer.page(list, cursor) : undefined
    if (page === undefined) {
      throw new RpcFault(RpcCode.invalidParams, 'cursor: leads nowhere; begin without one')
    }
    if (era === 'legacy') return `{${page}}`
    return `${this.#modern(FRESH).slice(0, -1)},${page}}`
  }

  #about(offer: Offer): object {
    const instructions = instructionsOf(offer)
    return {
      capabilities: {
        tools: {},
        prompts: {},
        resources: {},
        ...(offer.can('completions') ? { completions: {} } : {}),
      },
      ...(instructions === undefined ? {} : { instructions }),
    }
  }

  /** A result of 2026-07-28 says what it is and whose. */
  #modern(result: object): string {
    const { serverInfo } = this.#deps
    const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo }
    return JSON.stringify({ resultType: 'complete', _meta, ...result })
  }
}

/** What we say changes when a server does, which nobody can foretell. */
const FRESH = { ttlMs: 0, cacheScope: 'private' }

const LISTS: ReadonlyMap<string, ListName> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
])

/** How servers are meant to be used, in their own words. */
function instructionsOf({ offerings }: Offer): string | undefined {
  const [only, ...others] = offerings.filter(({ instructions = '' }) => instructions !== '')
  if (only === undefined) return undefined
  if (others.length === 0) return only.instructions
  return [only, ...others].map((each) => `# ${each.server}\n\n${each.instructions}`).join('\n\n')
}

function progressToken({ _meta: meta }: Params): RpcId | undefined {
  const token = isObject(meta) ? meta['progressToken'] : undefined
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}

function checkTypes(header: McpExchange['header']): void {
  const [type = ''] = (header('content-type') ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new RpcFault(RpcCode.unavailable, 'Content-Type must be application/json', {
      status: 415,
    })
  }
  const accepted = header('accept') ?? '*/*'
  if (!/\*\/\*|application\/(json|\*)/i.test(accepted)) {
    const message = 'Accept must have application/json and text/event-stream'
    throw new RpcFault(RpcCode.unavailable, message, { status: 406 })
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(text.decode(body))
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw new RpcFault(RpcCode.parse, `Parse error: ${reason}`, { status: 400 })
  }
}

function toFault(error: unknown): RpcFault {
  if (error instanceof RpcFault) return error
  return new RpcFault(RpcCode.internal, 'internal error', { status: 500 })
}

function notAllowed(): McpReply {
  const fault = new RpcFault(RpcCode.unavailable, 'Method not allowed: messages are sent by POST')
  return {
    status: 405,
    headers: { ...JSON_TYPE, allow: 'POST' },
    body: failure(null, fault),
  }
}
