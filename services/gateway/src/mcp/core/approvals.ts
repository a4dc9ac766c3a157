import type { ApprovalRule, CatalogTool } from '@mcp-host/contracts'
import type { MergedListing } from './merged-listing.ts'
import type { Route } from './route-request.ts'
import type { Params } from './json-rpc.ts'
import { isObject } from 'mcp-host/json'
import { JsonRpcCode, JsonRpcError } from './json-rpc.ts'
import type { StateSeal } from './state-seal.ts'
import { digest } from './state-seal.ts'
import type { ForwardedReply, ForwardedRequest } from './upstream.ts'
import type { Era } from './versions.ts'

export interface ApprovalsOptions {
  readonly rule: ApprovalRule
  /** Seals the state that clients of 2026-07-28 send back. */
  readonly seal: StateSeal
  /** The time limit for a decision. */
  readonly timeoutMs: number
}

/** The caller of a tool, and the ways to ask it. */
export interface Caller extends Pick<ForwardedRequest, 'client' | 'listener'> {
  readonly era: Era
}

/** Passes a call on; `confirm`: what a client of an older revision is asked on the way. */
type Run = (route: Route, confirm?: string) => Promise<ForwardedReply>

/** The key of the question in an `input_required` result. */
const QUESTION = 'approval'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
/** A longer text is not readable. */
const MAX_SHOWN_ARGUMENTS = 2_000

const text = new TextDecoder()
const bytes = new TextEncoder()

/** Calls of tools that run only when the user allows them: the client is asked by elicitation. */
export class Approvals {
  readonly #options: ApprovalsOptions

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  isNeeded({ place: { server, name } }: Route, listing: MergedListing): boolean {
    const annotations = (): CatalogTool['annotations'] => listing.annotationsOf(server, name)
    return this.#options.rule(server, name, annotations)
  }

  /** Runs a call once the user has allowed it. Throws `JsonRpcError` where the caller cannot be asked. */
  async pass(route: Route, { era, client, listener }: Caller, run: Run): Promise<ForwardedReply> {
    if (era === 'modern') return this.#passModern(route, run)
    if (client === undefined || listener === undefined || !takesForms(client.capabilities)) {
      throw new JsonRpcError(
        JsonRpcCode.unavailable,
        refusal(route, 'a session with elicitation'),
        {
          data: about(route),
        },
      )
    }
    return run(route, questionOf(route))
  }

  /** Asks a client of 2026-07-28 by an `input_required` result; it retries with the answer and the sealed state. */
  async #passModern(route: Route, run: Run): Promise<ForwardedReply> {
    const { requestState, inputResponses, ...params } = route.params
    const subject = await digest([route.place, params['arguments'] ?? {}])
    const opened = (await this.#options.seal.open(requestState)) ?? {}
    const isKnown = opened['subject'] === subject && Number(opened['until']) > Date.now()
    if (isKnown && opened['isAllowed'] === true) {
      const { inner } = opened
      const state = inner === undefined ? {} : { requestState: inner }
      return this.#run({ ...route, params: { ...params, ...state, inputResponses } }, subject, run)
    }
    const response = isKnown && isObject(inputResponses) ? inputResponses[QUESTION] : undefined
    const action = isObject(response) ? response['action'] : undefined
    if (action === 'accept') return this.#run({ ...route, params }, subject, run)
    if (action !== undefined) return toResult(refusedByUser(route))
    return this.#ask(route, subject)
  }

  async #ask(route: Route, subject: string): Promise<ForwardedReply> {
    const { _meta: meta } = route.params
    const capabilities = isObject(meta) ? meta[CAPABILITIES] : undefined
    if (!isObject(capabilities) || !takesForms(capabilities)) {
      const requiredCapabilities = { elicitation: { form: {} } }
      throw new JsonRpcError(JsonRpcCode.missingCapability, refusal(route, 'elicitation'), {
        status: 400,
        data: { ...about(route), requiredCapabilities },
      })
    }
    const params = { message: questionOf(route), requestedSchema: NO_FIELDS }
    return toResult({
      resultType: 'input_required',
      inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
      requestState: await this.#seal({ subject }),
    })
  }

  /** Input requests of the server belong to the call that was allowed. */
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
  // One that says nothing of modes knows forms alone.
  return isObject(elicitation['form']) || !('url' in elicitation)
}

function questionOf({ place: { server, name }, params }: Route): string {
  const json = JSON.stringify(params['arguments'] ?? {})
  const isWhole = json.length <= MAX_SHOWN_ARGUMENTS
  return `May ${server}.${name} be called with ${isWhole ? json : `${json.slice(0, MAX_SHOWN_ARGUMENTS)}…`}?`
}

function refusal({ place: { server, name } }: Route, needed: string): string {
  return `the tool "${name}" of the server "${server}" runs only when the user allows it, and this client cannot ask: it needs ${needed}`
}

function about({ place: { server, name } }: Route): object {
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
