import { JsonRpcCode } from '@mcp-host/mcp'
import type { AuditLog } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'
import type { Envelope, McpRequestHead, McpReplyHead } from '@mcp-host/contracts'
import { BusError, traceId } from '@mcp-host/contracts'
import type { ForwardOptions, Upstream } from '@mcp-host/upstream'
import { ValidationError } from '@mcp-host/upstream'
import { InputNeeded, type ShowLink } from '../steps/follow-link.ts'
import type { ServeCall } from '../steps/serve-call.ts'
import { recordApproval } from '../steps/audited.ts'
import { truncate } from '../truncate.ts'
import { MAX_INLINE_BYTES, MAX_RESULT_BYTES } from '../tool-calls/call-result.ts'
import { encodeResult } from '../tool-calls/encode-result.ts'
import type { SendPart } from './client-questions.ts'
import { ClientRefusal, refused } from './client-questions.ts'
import type { Era, Json } from './eras.ts'
import { type AskCaller, askingLink, repeatedLink, withoutLinkAnswer } from './link-for-caller.ts'
import { isObject } from '@mcp-host/json'
import { metaFor, resultFor, withLegacyOutput } from './eras.ts'
import { requestOptions } from './request-options.ts'
import type { JsonRpcFailure } from './json-rpc-failure.ts'
import { hasLinks } from './result-links.ts'
import { toJsonRpcFailure } from './json-rpc-failure.ts'

/** Limit for the rounds of input in one request. */
const MAX_INPUT_ROUNDS = 10
const NOT_ALLOWED = 'The user has not allowed this call.'
const DENIED = 'The policy of this host does not allow this call any more.'
const PROGRESS = { type: 'notice', method: 'notifications/progress' } as const

export interface ServeRequestDeps {
  readonly bus: Pick<Bus, 'blobs'>
  readonly upstream: Pick<Upstream, 'request'>
  readonly server: string
  /** Serves calls of tools. */
  readonly serve: ServeCall
  /** The audit log; absent when it is off. */
  readonly audit?: AuditLog | undefined
  /** The era of the server. */
  readonly era: Era
  /** Asks the caller during the request, if that is possible. */
  readonly ask?: AskCaller | undefined
  /** Aborts when the caller has cancelled the request. */
  readonly cancelled: () => AbortSignal
  /** Aborts when the server ends here. */
  readonly leaving: AbortSignal
  /** Asks the gateway whether the policy still lets a call run. */
  readonly askPolicy: (params: Json) => Promise<boolean>
}

export interface ParsedRequest {
  readonly head: McpRequestHead
  readonly params: Json
  readonly envelope: Envelope
}

export interface McpReply {
  readonly head: McpReplyHead
  readonly body: Uint8Array | string
}

/** Runs a request of an MCP client. Failures also become replies. */
export async function serveRequest(
  deps: ServeRequestDeps,
  request: ParsedRequest,
  send: SendPart,
): Promise<McpReply> {
  try {
    const answer = toAnswer(deps, await run(deps, request, send))
    return answer instanceof Promise ? await answer : answer
  } catch (error) {
    const { method } = request.head
    if (error instanceof InputNeeded) {
      const { inputRequests } = error
      const result = { resultType: 'input_required', inputRequests }
      return { head: { type: 'result' }, body: JSON.stringify(result) }
    }
    // The error becomes a result, since models see results but not protocol errors, and can correct the arguments.
    if (method === 'tools/call' && error instanceof ValidationError && error.issues.length > 0) {
      const content = [{ type: 'text', text: truncate(error.message) }]
      const eras = { caller: request.head.era, server: 'legacy' } as const
      const result = resultFor(method, { content, isError: true }, eras)
      return { head: { type: 'result', isRefused: true }, body: JSON.stringify(result) }
    }
    return toError(toJsonRpcFailure(error))
  }
}

/** A failure as a reply. One that is too large for a message loses its data and the end of its text. */
export function toError({ code, message, data }: JsonRpcFailure): McpReply {
  const head = { type: 'error', code } as const
  try {
    const body = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
    if (Buffer.byteLength(body) <= MAX_INLINE_BYTES) return { head, body }
  } catch {
    // Error data of a server may be nested too deeply to be serialized again.
  }
  return { head, body: JSON.stringify({ code, message: truncate(message) }) }
}

async function run(
  deps: ServeRequestDeps,
  request: ParsedRequest,
  sendPart: SendPart,
): Promise<object> {
  const { server, audit, serve, era, ask, askPolicy } = deps
  const { head, envelope } = request
  const params = withoutLinkAnswer(request.params)
  const { method, progress = false, client } = head
  const eras = { caller: head.era, server: era }
  const wantsProgress = progress && isObject(params['_meta']) && 'progressToken' in params['_meta']
  const options = {
    ...requestOptions(params),
    requestId: head.id,
    correlationId: traceId(envelope),
    ...(client === undefined ? {} : { sessionId: client.id }),
    meta: metaFor(params, eras, envelope, client),
    // A legacy caller without a session cannot be asked. The host answers the server as far as it can.
    allowInputRequired: head.era === 'modern' || ask !== undefined,
    onProgress: wantsProgress
      ? (progressed: object) => sendPart(PROGRESS, JSON.stringify(progressed))
      : undefined,
  }
  const send = (): Promise<unknown> => sendAnswered(deps, { head, params }, options)
  const over = (): AbortSignal => AbortSignal.any([deps.cancelled(), deps.leaving])
  const showLink: ShowLink | undefined =
    head.era === 'modern'
      ? (...link) => repeatedLink(request.params, over())(...link)
      : ask && ((...link) => askingLink(ask, over())(...link))
  const { name, arguments: args } = params
  const call = {
    envelope,
    server,
    tool: String(name),
    call: head.id,
    session: client?.id,
    arguments: args,
    cancelled: deps.cancelled,
    showLink,
  }
  if (head.confirm !== undefined) {
    const isConfirmed = await isAllowed(ask, head.confirm)
    recordApproval(audit, call, isConfirmed)
    if (!isConfirmed) return refusal(NOT_ALLOWED)
    const isDecided = head.isDecidedAgain === true
    if (isDecided && !(await askPolicy({ name, arguments: args }))) return refusal(DENIED)
  }
  const result = method === 'tools/call' ? await serve({ ...call, send }) : await send()
  const answer = resultFor(method, result as object, eras)
  const isOlderCall = head.era === 'legacy' && method === 'tools/call'
  return isOlderCall ? withLegacyOutput(answer, head.isOutputWrapped === true) : answer
}

/** The server's result. Input that the server requests is asked of a legacy caller first. */
async function sendAnswered(
  { upstream, ask }: ServeRequestDeps,
  { head, params }: Omit<ParsedRequest, 'envelope'>,
  options: ForwardOptions,
): Promise<unknown> {
  const { method } = head
  let result = await upstream.request(method, params, options)
  if (head.era === 'legacy' && ask !== undefined) {
    for (let round = 0; isInputRequired(result); round++) {
      if (round === MAX_INPUT_ROUNDS) {
        const message = 'the server asks for input without end'
        throw new ClientRefusal({ code: JsonRpcCode.internal, message })
      }
      const { requestState, inputRequests } = result
      const inputResponses = await answers(inputRequests, ask)
      const state = requestState === undefined ? {} : { requestState }
      const again = { ...params, ...state, inputResponses }
      result = await upstream.request(method, again, options)
    }
  }
  return result
}

/** Asks the caller whether the call may run. Throws `ClientRefusal` when it cannot be asked. */
async function isAllowed(ask: ServeRequestDeps['ask'], message: string): Promise<boolean> {
  if (ask === undefined) throw new ClientRefusal(refused('elicitation/create'))
  const requestedSchema = { type: 'object', properties: {} }
  const answer = await ask('elicitation/create', { message, requestedSchema })
  return isObject(answer) && answer['action'] === 'accept'
}

function refusal(text: string): object {
  return { content: [{ type: 'text', text }], isError: true }
}

function isInputRequired(result: unknown): result is Json {
  return isObject(result) && result['resultType'] === 'input_required'
}

/** The caller's answers to all input requests of a modern server. */
async function answers(
  inputRequests: unknown,
  ask: NonNullable<ServeRequestDeps['ask']>,
): Promise<Json> {
  const asked = Object.entries(isObject(inputRequests) ? inputRequests : {})
  const said = asked.map(async ([key, question]) => {
    const { method, params } = isObject(question) ? question : {}
    return [key, await ask(String(method), params)] as const
  })
  return Object.fromEntries(await Promise.all(said))
}

/** Converts a result to a reply. A result that is too large for a message goes to the object store. */
function toAnswer(deps: ServeRequestDeps, result: object): McpReply | Promise<McpReply> {
  const body = encodeResult(result)
  const links = hasLinks(result) ? { hasLinks: true } : {}
  const isSmall = body instanceof Uint8Array && body.length <= MAX_INLINE_BYTES
  return isSmall ? { head: { type: 'result', ...links }, body } : toStored(deps, body, links)
}

async function toStored(
  { bus }: ServeRequestDeps,
  encoded: Uint8Array | Promise<Uint8Array>,
  links: { readonly hasLinks?: boolean },
): Promise<McpReply> {
  const body = await encoded
  if (body.length <= MAX_INLINE_BYTES) return { head: { type: 'result', ...links }, body }
  if (body.length > MAX_RESULT_BYTES) {
    const message = `the result has ${body.length} bytes, more than the ${MAX_RESULT_BYTES} that can be kept; ask for less at a time`
    throw new BusError('exhausted', message)
  }
  const stored = await bus.blobs.put(body)
  return { head: { type: 'stored', ...stored, ...links }, body: '' }
}
