import type { IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import { broken } from './http-client.ts'
import type { RpcId } from './message.ts'
import { isId, isObject } from './message.ts'

/** The error for an answer that breaks the protocol, or that refuses the request. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  /** The JSON-RPC error of the body as a line, if it has the id of a request. */
  readonly line: string | undefined
  readonly id: RpcId
  readonly code: unknown

  constructor(status: number, text: string) {
    const content = parsed(text)
    const { id, error } = isObject(content) ? content : {}
    const { code, message } = isObject(error) ? error : {}
    const said = typeof message === 'string' ? message : text.slice(0, 500).trim()
    super(`the MCP host refused the message: HTTP ${status}${said === '' ? '' : `, ${said}`}`)
    this.status = status
    this.code = code
    this.id = isId(id) ? id : ''
    this.line = isObject(error) && isId(id) ? oneLine(text) : undefined
  }
}

/** The messages of an answer, one line each. Throws `Refusal`, and `Failure` when the answer breaks off. */
export async function* messagesOf(answer: IncomingMessage): AsyncGenerator<string> {
  const { statusCode = 0, headers } = answer
  try {
    if (statusCode >= 300) throw new Refusal(statusCode, await textOf(answer))
    if (headers['content-type']?.startsWith('text/event-stream') === true) {
      yield* eventsOf(answer)
    } else {
      const text = await textOf(answer)
      if (text.trim() !== '') yield oneLine(text)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw broken(error instanceof Error ? error.message : String(error), error)
  } finally {
    // A reader that leaves early needs no further messages.
    answer.destroy()
  }
}

async function* eventsOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const ready: string[] = []
  const parser = createParser({
    onEvent({ event = 'message', data }) {
      if (event === 'message' && data !== '') ready.push(oneLine(data))
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* ready.splice(0)
  }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** In JSON, line ends occur only between values, where a space is equivalent. */
function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]+/g, ' ').trim() : json
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
