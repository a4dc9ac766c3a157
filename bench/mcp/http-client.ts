import { Client } from 'undici'
import type { McpClient } from './mcp-client.ts'
import { initialize, initialized, toolCall } from './mcp-client.ts'

/** A client over Streamable HTTP on one connection of its own, with no more than it takes. */
export class HttpClient implements McpClient {
  readonly #client: Client
  readonly #path: string
  readonly #tool: string
  #session: string | undefined
  #id = 1

  private constructor(url: string, tool: string) {
    const { origin, pathname } = new URL(url)
    this.#client = new Client(origin, { pipelining: 1 })
    this.#path = pathname
    this.#tool = tool
  }

  static async open(url: string, tool: string): Promise<HttpClient> {
    const client = new HttpClient(url, tool)
    await client.#post(initialize)
    await client.#post(initialized)
    return client
  }

  async call(text: string): Promise<void> {
    const answer = await this.#post(toolCall(this.#id++, this.#tool, text))
    if (!answer.includes(text)) throw new Error(`a call was answered: ${answer.slice(0, 300)}`)
  }

  async close(): Promise<void> {
    await this.#client.destroy()
  }

  #post(body: string): Promise<string> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
      ...(this.#id === 1 ? {} : { 'mcp-protocol-version': '2025-06-18' }),
    }
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let status = 0
      this.#client.dispatch(
        { path: this.#path, method: 'POST', headers, body },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_, statusCode, received) => {
            status = statusCode
            const session = received['mcp-session-id']
            if (typeof session === 'string') this.#session = session
          },
          onResponseData: (_, chunk) => void chunks.push(chunk),
          onResponseEnd: () => {
            const answer = Buffer.concat(chunks).toString()
            if (status < 300) resolve(answer)
            else reject(new Error(`${status}: ${answer.slice(0, 300)}`))
          },
          onResponseError: (_, error) => reject(error),
        },
      )
    })
  }
}
