import type { IncomingMessage } from 'node:http'
import { Agent, get } from 'node:http'
import { once } from 'node:events'
import { HttpConnection } from '../http-connection.ts'
import type { McpClient } from './mcp-client.ts'
import { initialize, initialized, toolCall } from './mcp-client.ts'

/** A client over HTTP+SSE, the transport until 2024-11-05. Replies arrive on a separate stream. */
export class SseClient implements McpClient {
  readonly #stream: IncomingMessage
  readonly #tool: string
  readonly #waiting = new Map<number, (message: string) => void>()
  readonly #endpoint = Promise.withResolvers<string>()
  #connection: HttpConnection | undefined
  #path = ''
  #id = 1

  private constructor(stream: IncomingMessage, tool: string) {
    this.#stream = stream
    this.#tool = tool
    let rest = ''
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      const events = (rest + chunk).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) this.#take(event)
    })
  }

  static async open(url: string, tool: string): Promise<SseClient> {
    const request = get(url, { headers: { accept: 'text/event-stream' }, agent: new Agent() })
    const [stream] = (await once(request, 'response')) as [IncomingMessage]
    const client = new SseClient(stream, tool)
    const endpoint = new URL(await client.#endpoint.promise, url)
    const { pathname, search } = endpoint
    client.#connection = new HttpConnection(endpoint.href)
    client.#path = pathname + search
    await client.#ask(0, initialize)
    await client.#post(initialized)
    return client
  }

  async call(text: string): Promise<void> {
    const id = this.#id++
    const answer = await this.#ask(id, toolCall(id, this.#tool, text))
    if (!answer.includes(text)) throw new Error(`a call was answered: ${answer.slice(0, 300)}`)
  }

  async close(): Promise<void> {
    this.#stream.destroy()
    this.#connection?.close()
  }

  async #ask(id: number, body: string): Promise<string> {
    const answered = new Promise<string>((resolve) => this.#waiting.set(id, resolve))
    await this.#post(body)
    return answered
  }

  async #post(body: string): Promise<void> {
    await this.#connection?.ask('POST', this.#path, 'content-type: application/json\r\n', body)
  }

  #take(event: string): void {
    const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? ''
    if (/^event: ?endpoint/m.test(event)) return this.#endpoint.resolve(data)
    const [, id] = /"id":(\d+)/.exec(data.slice(-24)) ?? /"id":(\d+)/.exec(data) ?? []
    this.#waiting.get(Number(id))?.(data)
    this.#waiting.delete(Number(id))
  }
}
