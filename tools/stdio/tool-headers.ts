import type { ParameterHeader } from '@mcp-host/mcp'
import { encodeHeader, headersFor, parameterHeaders } from '@mcp-host/mcp'
import type { Message, Params } from './message.ts'
import { isObject } from './message.ts'

export type Headers = Readonly<Record<string, string>>

/** Answers a request of the bridge itself. */
export type Ask = (method: string, params: Params) => Promise<unknown>

/** The parameter that the `Mcp-Name` header repeats, by method. */
const NAMED_BY: ReadonlyMap<string | undefined, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])
const MAX_PAGES = 100

/**
 * Adds the headers that a message of 2026-07-28 has over HTTP but not over stdio. The schema of a tool declares which
 * arguments are repeated. The client may not have listed the tool over this connection, so its schema is looked up.
 */
export class ToolHeaders {
  readonly #ask: Ask
  readonly #byTool = new Map<string, readonly ParameterHeader[]>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  of({ method, params, version }: Message): Headers {
    if (method === undefined || version === undefined) return {}
    const name = params[NAMED_BY.get(method) ?? '']
    const declared = this.#byTool.get(String(params['name'])) ?? []
    const { arguments: given } = params
    return {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': encodeHeader(name) } : {}),
      ...(method === 'tools/call' ? headersFor(declared, isObject(given) ? given : {}) : {}),
    }
  }

  /** Looks up the headers of tools, in a list that is requested with the `_meta` of a message. */
  async learn({ params }: Message): Promise<void> {
    const { progressToken: _, ..._meta } = isObject(params['_meta']) ? params['_meta'] : {}
    this.#byTool.clear()
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await this.#ask('tools/list', { _meta, ...(page > 0 ? { cursor } : {}) })
      const { tools, nextCursor } = isObject(result) ? result : {}
      for (const tool of Array.isArray(tools) ? tools : []) this.#take(tool)
      if (nextCursor === undefined) return
      cursor = nextCursor
    }
  }

  #take(tool: unknown): void {
    const { name, inputSchema } = isObject(tool) ? tool : {}
    const declared = parameterHeaders(isObject(inputSchema) ? inputSchema : {})
    if (declared.kind === 'valid' && declared.headers.length > 0) {
      this.#byTool.set(String(name), declared.headers)
    }
  }
}
