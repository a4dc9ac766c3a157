import type { Bus } from '@mcp-host/bus'
import type { Envelope, PassHead, PassReply } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { MCPHost } from 'mcp-host'
import { ValidationError } from 'mcp-host'
import { brief } from '../brief.ts'
import { MAX_INLINE_BYTES, MAX_RESULT_BYTES } from '../handlers/call-result.ts'
import { encodeResult } from '../handlers/encode-result.ts'
import type { Era } from './eras.ts'
import { isObject, metaFor, resultFor } from './eras.ts'
import type { RpcFailure } from './rpc-failure.ts'
import { toRpcFailure } from './rpc-failure.ts'

export interface PassRequestDeps {
  readonly bus: Pick<Bus, 'blobs'>
  readonly host: Pick<MCPHost, 'forward'>
  readonly server: string
  /** Which era it speaks. */
  readonly era: Era
}

export interface Question {
  readonly head: PassHead
  readonly body: Uint8Array
  readonly envelope: Envelope
}

/** Sends an answer before the last. */
export type Tell = (part: PassReply, body: string) => void

export interface Answer {
  readonly head: PassReply
  readonly body: Uint8Array | string
}

const text = new TextDecoder()

/** Runs a request of another MCP client. What goes wrong is an answer too. */
export async function passRequest(
  deps: PassRequestDeps,
  question: Question,
  tell: Tell,
): Promise<Answer> {
  try {
    return await toAnswer(deps, await run(deps, question, tell))
  } catch (error) {
    const { method } = question.head
    // The model that called it can do better; an error of the protocol it would not see.
    if (method === 'tools/call' && error instanceof ValidationError && error.issues.length > 0) {
      const content = [{ type: 'text', text: brief(error.message) }]
      const eras = { caller: question.head.era, server: 'legacy' } as const
      const result = resultFor(method, { content, isError: true }, eras)
      return { head: { type: 'result' }, body: JSON.stringify(result) }
    }
    return { head: { type: 'error' }, body: toJson(toRpcFailure(error)) }
  }
}

/** What a server put into it may be too deep to be written again. */
function toJson({ code, message, data }: RpcFailure): string {
  try {
    return JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
  } catch {
    return JSON.stringify({ code, message })
  }
}

async function run(
  { host, server, era }: PassRequestDeps,
  { head, body, envelope }: Question,
  tell: Tell,
): Promise<object> {
  const { method, progress = false } = head
  const params: unknown = JSON.parse(text.decode(body))
  if (!isObject(params)) throw new Error('params are no object')
  const eras = { caller: head.era, server: era }
  const notice = { type: 'notice', method: 'notifications/progress' } as const
  const result = await host.forward(server, method, params, {
    requestId: head.id,
    meta: metaFor(params, eras, envelope),
    // An older caller cannot be asked: the server is answered here, as far as we can.
    allowInputRequired: head.era === 'modern',
    ...(progress ? { onProgress: (each) => tell(notice, JSON.stringify(each)) } : {}),
  })
  return resultFor(method, result as object, eras)
}

/** The answer, by way of the object store when it is too large for a message. */
async function toAnswer({ bus }: PassRequestDeps, result: object): Promise<Answer> {
  const body = await encodeResult(result)
  if (body.length <= MAX_INLINE_BYTES) return { head: { type: 'result' }, body }
  if (body.length > MAX_RESULT_BYTES) {
    const message = `the result has ${body.length} bytes, more than the ${MAX_RESULT_BYTES} that can be kept; ask for less at a time`
    throw new BusError('exhausted', message)
  }
  const { key, bytes } = await bus.blobs.put(body)
  return { head: { type: 'stored', key, bytes }, body: '' }
}
