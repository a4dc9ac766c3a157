import type { HttpAnswer } from '../http-connection.ts'
import { HttpConnection } from '../http-connection.ts'
import type { McpClient } from './mcp-client.ts'
import { initialize, initialized, toolCall } from './mcp-client.ts'

const HEADERS = 'content-type: application/json\r\naccept: application/json, text/event-stream\r\n'
const VERSION = 'mcp-protocol-version: 2025-06-18\r\n'

/** A client over Streamable HTTP with its own session and connection. */
export class HttpClient implements McpClient {
  readonly #connection: HttpConnection
  readonly #path: string
  readonly #tool: string
  #headers: string
  #id = 1

  private constructor(url: string, tool: string, headers: string) {
    this.#headers = HEADERS + headers
    this.#connection = new HttpConnection(url)
    this.#path = new URL(url).pathname
    this.#tool = tool
  }

  /** `headers`: additional lines, each with `\r\n`. */
  static async open(url: string, tool: string, headers = ''): Promise<HttpClient> {
    const client = new HttpClient(url, tool, headers)
    const { head } = await client.#post(initialize)
    const [, session] = /\r\nmcp-session-id: *(\S+)/i.exec(head) ?? []
    const own = session === undefined ? '' : `mcp-session-id: ${session}\r\n`
    client.#headers += VERSION + own
    await client.#post(initialized)
    return client
  }

  async call(text: string): Promise<void> {
    const { body } = await this.#post(toolCall(this.#id++, this.#tool, text))
    if (!body.includes(text)) throw new Error(`a call was answered: ${body.slice(0, 300)}`)
  }

  async close(): Promise<void> {
    // Some targets keep a process for each open session. A session that cannot be ended is left.
    await this.#ask('DELETE').catch(() => undefined)
    this.#connection.close()
  }

  #ask(method: string, body?: string): Promise<HttpAnswer> {
    return this.#connection.ask(method, this.#path, this.#headers, body)
  }

  async #post(body: string): Promise<HttpAnswer> {
    const answer = await this.#ask('POST', body)
    if (answer.status < 300) return answer
    throw new Error(`${answer.status}: ${answer.body.slice(0, 300)}`)
  }
}
