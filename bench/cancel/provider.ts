import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A word in this pace, for as long as anybody reads. */
const WORD_MS = 20

/** Something that speaks Gemini's wire format and writes until it is stopped. */
export interface Provider extends AsyncDisposable {
  readonly url: string
  /** `performance.now()` at which the answer to each message was cut off by the client. */
  readonly cuts: ReadonlyMap<string, number>
}

/**
 * Answers a message that begins with `write` without end, one with `call` by a call of the first tool that
 * is offered, anything else by `ok`.
 */
export async function startProvider(): Promise<Provider> {
  const cuts = new Map<string, number>()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Asked for its models.
    if (request.method === 'GET') return void response.writeHead(404).end()
    const { contents, tools } = JSON.parse(await text(request)) as GeminiRequest
    const said = contents.findLast(
      ({ role, parts }) => role === 'user' && parts[0]?.text !== undefined,
    )
    const message = said?.parts[0]?.text ?? ''
    const isAnswered = contents.at(-1) !== said
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (message.startsWith('write')) {
      response.on('close', () => cuts.set(message, performance.now()))
      const timer = setInterval(() => send(response, { text: 'word ' }), WORD_MS)
      response.on('close', () => clearInterval(timer))
      send(response, { text: 'word ' })
      return
    }
    const tool = tools?.[0]?.functionDeclarations[0]?.name
    const isCall = message.startsWith('call') && !isAnswered && tool !== undefined
    const part = isCall ? { functionCall: { name: tool, args: { id: message } } } : { text: 'ok' }
    send(response, part, 'STOP')
    response.end()
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    cuts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface GeminiRequest {
  readonly contents: readonly {
    readonly role: string
    readonly parts: readonly { readonly text?: string }[]
  }[]
  readonly tools?: readonly {
    readonly functionDeclarations: readonly { readonly name: string }[]
  }[]
}

function send(response: ServerResponse, part: object, finishReason?: string): void {
  const candidate = { content: { role: 'model', parts: [part] }, index: 0, finishReason }
  const chunk = { candidates: [candidate], usageMetadata: { totalTokenCount: 1 } }
  response.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`)
}
