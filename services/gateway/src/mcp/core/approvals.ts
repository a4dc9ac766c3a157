import type { Caller as CallingPrincipal } from '@mcp-host/contracts'
import type { Route } from './route-request.ts'
import type { Params } from './json-rpc.ts'
import { isObject } from 'mcp-host/json'
import { JsonRpcCode, JsonRpcError } from './json-rpc.ts'
import type { StateSeal } from './state-seal.ts'
import { digest } from './state-seal.ts'
import type { ForwardedReply, ForwardedRequest } from './upstream.ts'
import type { Era } from './versions.ts'
import { CLIENT_CAPABILITIES } from './versions.ts'

type Call = Parameters<NonNullable<ApprovalsOptions['onAnswered']>>[1]

/** The queue for calls whose clients cannot be asked. Throws `BusError`. */
export interface CallQueue {
  /** Adds a call to the queue. A call that waits already is not added again. */
  ask(
    caller: CallingPrincipal,
    call: Call,
  ): Promise<{ readonly id: string; readonly expiresAt: number }>
  /** Uses up the approval of a call. Returns `false` when there is none. */
  take(caller: CallingPrincipal, call: Call): Promise<boolean>
}

export interface ApprovalsOptions {
  /** Seals the state that clients of 2026-07-28 send back. */
  readonly seal: StateSeal
  readonly queue?: CallQueue
  /** The time limit for a decision. */
  readonly timeoutMs: number
  /** Called with the answer of a client of 2026-07-28; the answers of others reach the supervisor. */
  readonly onAnswered?: (
    caller: CallingPrincipal,
    call: { readonly server: string; readonly tool: string; readonly arguments: unknown },
    outcome: 'allowed' | 'refused',
  ) => void
}

/** The caller of a tool, and the means to ask it. */
export interface Caller extends Pick<ForwardedRequest, 'client' | 'listener' | 'caller'> {
  readonly era: Era
}

/** Forwards a call. `confirm`: the question that the supervisor asks a legacy client first. */
type Run = (route: Route, confirm?: string) => Promise<ForwardedReply>

/** The key of the question in an `input_required` result. */
const QUESTION = 'approval'
/** The largest excerpt of arguments in a question, in UTF-16 units. */
const MAX_SHOWN_ARGUMENTS = 2_000

const text = new TextDecoder()
const bytes = new TextEncoder()

/** Runs calls of tools that need an approval. The client is asked by elicitation. */
export class Approvals {
  readonly #options: ApprovalsOptions

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  /** Runs a call once the user has allowed it. Throws `JsonRpcError` when the caller cannot be asked. */
  async pass(
    route: Route,
    { era, client, listener, caller }: Caller,
    run: Run,
  ): Promise<ForwardedReply> {
    if (era === 'modern') return this.#passModern(route, caller, run)
    if (client === undefined || listener === undefined || !takesForms(client.capabilities)) {
      return this.#passQueued(route, caller, run, (data) => {
        const message = refusal(route, 'a session with elicitation', data)
        return new JsonRpcError(JsonRpcCode.unavailable, message, { data })
      })
    }
    return run(route, questionOf(route))
  }

  /** Asks a client of 2026-07-28 by an `input_required` result; it retries with the answer and the sealed state. */
  async #passModern(
    route: Route,
    caller: CallingPrincipal | undefined,
    run: Run,
  ): Promise<ForwardedReply> {
    const { requestState, inputResponses, ...params } = route.params
    const subject = await digest([caller?.id ?? '', route.place, params['arguments'] ?? {}])
    const opened = (await this.#options.seal.open(requestState)) ?? {}
    const isKnown = opened['subject'] === subject && Number(opened['until']) > Date.now()
    if (isKnown && opened['isAllowed'] === true) {
      const { inner } = opened
      const state = inner === undefined ? {} : { requestState: inner }
      return this.#run({ ...route, params: { ...params, ...state, inputResponses } }, subject, run)
    }
    const response = isKnown && isObject(inputResponses) ? inputResponses[QUESTION] : undefined
    const action = isObject(response) ? response['action'] : undefined
    if (action !== undefined && caller !== undefined) {
      const { server, name: tool } = route.place
      const call = { server, tool, arguments: params['arguments'] ?? {} }
      this.#options.onAnswered?.(caller, call, action === 'accept' ? 'allowed' : 'refused')
    }
    if (action === 'accept') return this.#run({ ...route, params }, subject, run)
    if (action !== undefined) return toResult(refusedByUser(route))
    const { _meta: meta } = params
    const capabilities = isObject(meta) ? meta[CLIENT_CAPABILITIES] : undefined
    if (isObject(capabilities) && takesForms(capabilities)) return this.#ask(route, subject)
    return this.#passQueued({ ...route, params }, caller, run, (reason) => {
      const data = { ...reason, requiredCapabilities: { elicitation: { form: {} } } }
      const message = refusal(route, 'elicitation', reason)
      return new JsonRpcError(JsonRpcCode.missingCapability, message, { status: 400, data })
    })
  }

  /** Runs a call that was allowed in the queue. Other calls are refused and wait in the queue. */
  async #passQueued(
    route: Route,
    caller: CallingPrincipal | undefined,
    run: Run,
    refuse: (about: About) => JsonRpcError,
  ): Promise<ForwardedReply> {
    const { queue } = this.#options
    if (queue === undefined || caller === undefined) throw refuse(about(route))
    const { server, name: tool } = route.place
    const call = { server, tool, arguments: route.params['arguments'] ?? {} }
    if (await queue.take(caller, call)) return run(route)
    const { id, expiresAt } = await queue.ask(caller, call)
    throw refuse({ ...about(route), approval: { id, path: `/api/approvals/${id}`, expiresAt } })
  }

  async #ask(route: Route, subject: string): Promise<ForwardedReply> {
    const params = { message: questionOf(route), requestedSchema: NO_FIELDS }
    return toResult({
      resultType: 'input_required',
      inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
      requestState: await this.#seal({ subject }),
    })
  }

  /** Runs an allowed call. Input requests of the server belong to it. */
  async #run(route: Route, subject: string, run: Run): Promise<ForwardedReply> {
    const forwarded = await run(route)
    const result: unknown =
      forwarded.type === 'result' ? JSON.parse(text.decode(forwarded.json)) : {}
    if (!isObject(result) || result['resultType'] !== 'input_required') return forwarded
    const { requestState: inner } = result
    const requestState = await this.#seal({ subject, isAllowed: true, inner })
    return toResult({ ...result, requestState })
  }

  #seal(content: Params): Promise<string> {
    const { seal, timeoutMs } = this.#options
    return seal.seal({ ...content, until: Date.now() + timeoutMs })
  }
}

const NO_FIELDS = { type: 'object', properties: {} }

function takesForms({ elicitation }: Params): boolean {
  if (!isObject(elicitation)) return false
  // A client that declares no modes supports only forms.
  return isObject(elicitation['form']) || !('url' in elicitation)
}

function questionOf({ place: { server, name }, params }: Route): string {
  const json = JSON.stringify(params['arguments'] ?? {})
  const isWhole = json.length <= MAX_SHOWN_ARGUMENTS
  return `May ${server}.${name} be called with ${isWhole ? json : `${json.slice(0, MAX_SHOWN_ARGUMENTS)}…`}?`
}

interface About {
  readonly reason: string
  readonly server: string
  readonly tool: string
  readonly retryable: boolean
  /** The route on which the user can allow the call. */
  readonly approval?: { readonly id: string; readonly path: string; readonly expiresAt: number }
}

function refusal({ place: { server, name } }: Route, needed: string, { approval }: About): string {
  const why = `the tool "${name}" of the server "${server}" runs only when the user allows it, and this client cannot ask: it needs ${needed}`
  return approval === undefined
    ? why
    : `${why}. The call waits at ${approval.path}; once it is allowed there, send it again`
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

function toResult(result: object): ForwardedReply {
  return { type: 'result', json: bytes.encode(JSON.stringify(result)) }
}
