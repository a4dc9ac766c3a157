import type { Caller as CallingPrincipal } from '@mcp-host/contracts'
import { OPTIONS_META_KEY } from '@mcp-host/contracts'
import type { Route } from './route-request.ts'
import type { Params } from '../messages/json-rpc.ts'
import { digest, isObject } from '@mcp-host/json'
import { ENVELOPE_KEYS, JsonRpcCode, MetaKey } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { SentArguments } from './sent-route.ts'
import { sentRoute } from './sent-route.ts'
import type { StateSeal } from '../messages/state-seal.ts'
import type { ServerReply, OutgoingRequest } from '../servers.ts'
import type { Era } from '../messages/versions.ts'
import { visible } from './visible.ts'

type Call = Parameters<NonNullable<ApprovalsOptions['onAnswered']>>[1]

/** The queue for calls whose clients cannot be asked, and the approvals that were used. Throws `BusError`. */
export interface CallQueue {
  /** Adds a call to the queue. A call that waits already is not added again. */
  ask(
    caller: CallingPrincipal,
    call: Call,
  ): Promise<{ readonly id: string; readonly expiresAt: number }>
  /** Uses up the approval of a call. Returns `false` when there is none. */
  take(caller: CallingPrincipal, call: Call): Promise<boolean>
  /** Notes that the answer to a question about a call is used. Returns `false` when it was before. */
  spend(caller: CallingPrincipal, call: Call, question: string): Promise<boolean>
}

export interface ApprovalsOptions {
  /** Seals the state that clients of 2026-07-28 send back. */
  readonly seal: StateSeal
  readonly queue: CallQueue
  readonly sentArguments: SentArguments
  /** The time limit for a decision. */
  readonly timeoutMs: number
  /** Address of the page on which users decide about calls in the queue. */
  readonly pageUrl: string
  /** Called with the answer of a client of 2026-07-28; the answers of others reach the supervisor. */
  readonly onAnswered?: (
    caller: CallingPrincipal,
    call: { readonly server: string; readonly tool: string; readonly arguments: unknown },
    outcome: 'allowed' | 'refused',
  ) => void
}

/** The caller of a tool, and the means to ask it. */
export interface Caller extends Pick<OutgoingRequest, 'client' | 'listener' | 'caller'> {
  readonly era: Era
}

/** Sends a call. `confirm`: the question that the supervisor asks a legacy client first. */
type Run = (route: Route, confirm?: string) => Promise<ServerReply>

/** The key of the question in an `input_required` result. */
const QUESTION = 'approval'
/** The limit for a question, in UTF-16 units. A user must see all that would run, so longer ones are read in the queue. */
const MAX_QUESTION_LENGTH = 8_000

/** The fields of `_meta` that the protocol and the host need. */
const KEPT_META: ReadonlySet<string> = new Set([
  'progressToken',
  'traceparent',
  'tracestate',
  'baggage',
  OPTIONS_META_KEY,
  ...ENVELOPE_KEYS,
])

const text = new TextDecoder()
const bytes = new TextEncoder()

/** Runs calls of tools that need an approval. A client with the scope `decide` is asked by elicitation. */
export class Approvals {
  readonly #options: ApprovalsOptions

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  /** Runs a call once the user has allowed it. Throws `JsonRpcError` when the caller cannot be asked. */
  async pass(
    given: Route,
    listing: MergedListing,
    { era, client, listener, caller }: Caller,
    run: Run,
  ): Promise<ServerReply> {
    const route = withoutUnseen(await sentRoute(this.#options.sentArguments, given, listing))
    if (era === 'modern') return this.#passModern(route, caller, run)
    const question = questionOf(route)
    const canAsk = client !== undefined && listener !== undefined && takesForms(client.capabilities)
    const isTrusted = mayDecide(caller)
    if (canAsk && isTrusted && question !== undefined) return run(route, question)
    return this.#passQueued(route, caller, run, (data) => {
      const obstacle = !canAsk ? NO_SESSION : isTrusted ? TOO_LONG : NO_SCOPE
      const message = refusal(route, obstacle, data)
      return new JsonRpcError(JsonRpcCode.unavailable, message, { data })
    })
  }

  /** Asks a client of 2026-07-28 by an `input_required` result; it retries with the answer and the sealed state. */
  async #passModern(
    route: Route,
    caller: CallingPrincipal | undefined,
    run: Run,
  ): Promise<ServerReply> {
    const { seal, queue, onAnswered } = this.#options
    const { requestState, inputResponses, ...params } = route.params
    const asked = { ...route, params }
    const call = callOf(asked)
    const subject = await digest([caller?.id ?? '', route.place, call.arguments])
    const { question, inner, ...opened } = (await seal.open(requestState)) ?? {}
    const isKnown = opened['subject'] === subject && Number(opened['until']) > Date.now()
    const isContinued = isKnown && opened['isAllowed'] === true
    const response = isKnown && isObject(inputResponses) ? inputResponses[QUESTION] : undefined
    const action = isObject(response) ? response['action'] : undefined
    const isTrusted = mayDecide(caller)
    const isAnswered = isContinued || (isTrusted && action !== undefined)
    // A client that sends a used answer again is asked again.
    if (isAnswered && caller !== undefined && (await queue.spend(caller, call, String(question)))) {
      if (isContinued) {
        const state = inner === undefined ? {} : { requestState: inner }
        const continued = { ...params, ...state, inputResponses }
        return this.#run({ ...route, params: continued }, subject, run)
      }
      onAnswered?.(caller, call, action === 'accept' ? 'allowed' : 'refused')
      return action === 'accept' ? this.#run(asked, subject, run) : toResult(refusedByUser(route))
    }
    const { _meta: meta } = params
    const capabilities = isObject(meta) ? meta[MetaKey.clientCapabilities] : undefined
    const canAsk = isObject(capabilities) && takesForms(capabilities)
    const message = questionOf(asked)
    if (canAsk && isTrusted && message !== undefined) return this.#ask(message, subject)
    const runAllowed: Run = (allowed) => this.#run(allowed, subject, run)
    return this.#passQueued(asked, caller, runAllowed, (reason) => {
      if (canAsk) {
        const queued = refusal(route, isTrusted ? TOO_LONG : NO_SCOPE, reason)
        return new JsonRpcError(JsonRpcCode.unavailable, queued, { data: reason })
      }
      const data = { ...reason, requiredCapabilities: { elicitation: { form: {} } } }
      const missing = refusal(route, NO_ELICITATION, reason)
      return new JsonRpcError(JsonRpcCode.missingCapability, missing, { status: 400, data })
    })
  }

  /** Runs a call that was allowed in the queue. Other calls are refused and wait in the queue. */
  async #passQueued(
    route: Route,
    caller: CallingPrincipal | undefined,
    run: Run,
    refuse: (about: About) => JsonRpcError,
  ): Promise<ServerReply> {
    if (caller === undefined) throw refuse(about(route))
    const { queue } = this.#options
    const call = callOf(route)
    if (await queue.take(caller, call)) return run(route)
    const { id, expiresAt } = await queue.ask(caller, call)
    throw refuse({
      ...about(route),
      approval: { id, path: `/api/approvals/${id}`, url: this.#options.pageUrl, expiresAt },
    })
  }

  async #ask(message: string, subject: string): Promise<ServerReply> {
    const params = { message, requestedSchema: NO_FIELDS }
    return toResult({
      resultType: 'input_required',
      inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
      requestState: await this.#seal({ subject }),
    })
  }

  /** Runs an allowed call. Input requests of the server belong to it. */
  async #run(route: Route, subject: string, run: Run): Promise<ServerReply> {
    const answer = await run(route)
    const result: unknown = answer.type === 'result' ? JSON.parse(text.decode(answer.json)) : {}
    if (!isObject(result) || result['resultType'] !== 'input_required') return answer
    const { requestState: inner } = result
    const requestState = await this.#seal({ subject, isAllowed: true, inner })
    return toResult({ ...result, requestState })
  }

  #seal(content: Params): Promise<string> {
    const { seal, timeoutMs } = this.#options
    const question = crypto.randomUUID()
    return seal.seal({ ...content, question, until: Date.now() + timeoutMs })
  }
}

const NO_FIELDS = { type: 'object', properties: {} }

/** Whether a client may approve the calls of its user: a program answers an elicitation as it likes. */
function mayDecide(caller: CallingPrincipal | undefined): boolean {
  return caller?.scopes.includes('decide') === true
}

function takesForms({ elicitation }: Params): boolean {
  if (!isObject(elicitation)) return false
  // A client that declares no modes supports only forms.
  return isObject(elicitation['form']) || !('url' in elicitation)
}

/** A call without the fields of its `_meta` that its user would not see, and that its server may follow. */
function withoutUnseen(route: Route): Route {
  const { _meta: meta, ...params } = route.params
  if (!isObject(meta)) return route
  const seen = Object.entries(meta).filter(([key]) => KEPT_META.has(key))
  return { ...route, params: { ...params, _meta: Object.fromEntries(seen) } }
}

function callOf({ place: { server, name }, params }: Route): Call {
  return { server, tool: name, arguments: params['arguments'] ?? {} }
}

/** The question about a call, with all its arguments; undefined when it would be too long. */
function questionOf(route: Route): string | undefined {
  const { server, tool, arguments: args } = callOf(route)
  const question = visible(`May ${server}.${tool} be called with ${JSON.stringify(args)}?`)
  return question.length <= MAX_QUESTION_LENGTH ? question : undefined
}

interface About {
  readonly reason: string
  readonly server: string
  readonly tool: string
  readonly retryable: boolean
  /** The route and the page on which the user can allow the call. */
  readonly approval?: {
    readonly id: string
    readonly path: string
    readonly url: string
    readonly expiresAt: number
  }
}

const NO_SESSION = 'this client cannot ask: it needs a session with elicitation'
const NO_ELICITATION = 'this client cannot ask: it needs elicitation'
const NO_SCOPE = 'the credential of this client lacks the scope decide'
const TOO_LONG = `its arguments are too long for a question of ${MAX_QUESTION_LENGTH} characters`

function refusal(
  { place: { server, name } }: Route,
  obstacle: string,
  { approval }: About,
): string {
  const why = `the tool "${name}" of the server "${server}" runs only when the user allows it, and ${obstacle}`
  return approval === undefined
    ? why
    : `${why}. The call waits for the user at ${approval.url}; once it is allowed there, send it again`
}

function about({ place: { server, name } }: Route): About {
  return { reason: 'approval-required', server, tool: name, retryable: false }
}

function refusedByUser({ place: { server, name } }: Route): object {
  const content = [
    { type: 'text', text: `The user has not allowed the call of ${server}.${name}.` },
  ]
  return { resultType: 'complete', content, isError: true }
}

function toResult(result: object): ServerReply {
  return { type: 'result', json: bytes.encode(JSON.stringify(result)) }
}
