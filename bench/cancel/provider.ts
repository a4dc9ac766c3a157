import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../../tools/host/listen.ts'

/** Time between two words. */
const WORD_MS = 20

/** A provider that speaks Gemini's wire format. */
export interface Provider extends AsyncDisposable {
  readonly url: string
  /** When the client cut off the answer to each message, by `performance.now()`. */
  readonly cuts: ReadonlyMap<string, number>
}

/**
 * Starts a provider. It answers a message that begins with `write` without end, one that begins with `call` by a call
 * of the first offered tool, and any other by `ok`.
 */
export async function startProvider(): Promise<Provider> {
  const cuts = new Map<string, number>()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The request for its models.
    if (request.method === 'GET') return void response.writeHead(404).end()
    const { contents, tools } = JSON.parse(await text(request)) as GeminiRequest
    const last = contents.findLast(
      ({ role, parts }) => role === 'user' && parts[0]?.text !== undefined,
    )
    const message = last?.parts[0]?.text ?? ''
    const isAnswered = contents.at(-1) !== last
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (message.startsWith('write')) {
      const timer = setInterval(() => send(response, { text: 'word ' }), WORD_MS)
      response.on('close', () => {
        cuts.set(message, performance.now())
        clearInterval(timer)
      })
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
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
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
