import type { ParameterHeader } from 'mcp-host/routing'
import { encodeHeader, headersFor, parameterHeaders } from 'mcp-host/routing'
import type { Message, Params } from './message.ts'
import { isObject } from './message.ts'

export type Headers = Readonly<Record<string, string>>

/** Answers a request of ours. */
export type Ask = (method: string, params: Params) => Promise<unknown>

/** Which parameter the `Mcp-Name` header repeats. */
const NAMED_BY: ReadonlyMap<string | undefined, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])
const MAX_PAGES = 100

/**
 * The headers that a message of 2026-07-28 has over HTTP and not over stdio. Which arguments of a tool are
 * repeated there is written in its schema; who calls it may never have listed it here, so it is looked up.
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

  /** Looks up which headers the tools want, as the sender of a message sees them. */
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
