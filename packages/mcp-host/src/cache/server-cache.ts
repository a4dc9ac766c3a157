import { randomUUID } from 'node:crypto'

import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client'

import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import type { CacheableOptions } from '../requests/options.ts'
import type { Cached, TtlCache } from './ttl-cache.ts'

export interface ServerCacheDeps {
  /** Shared by all servers; undefined: no caching. */
  readonly cache: TtlCache<object> | undefined
  /** The server cannot be asked now. */
  readonly isAway: () => boolean
}

/** The prompts and resources of one server, as it last gave them. */
export class ServerCache {
  readonly #deps: ServerCacheDeps
  /** Changes with the configuration, so that entries of an earlier one are not found. */
  readonly #prefix: string
  /** Counts what was forgotten: an answer asked for before that is not worth keeping. */
  #forgotten = 0

  constructor(deps: ServerCacheDeps, server: string) {
    this.#deps = deps
    this.#prefix = `${server} ${randomUUID()}`
  }

  /** What is kept, or what `fetch` gets. */
  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: CacheableOptions,
    fetch: () => Promise<GetPromptResult>,
  ): Promise<GetPromptResult> {
    const sorted = Object.keys(args)
      .toSorted()
      .map((each) => [each, args[each]])
    return this.#get(this.#key('prompt', JSON.stringify([name, sorted])), options, fetch)
  }

  /** The cached value, or the result of `fetch`. */
  async readResource(
    uri: string,
    options: CacheableOptions,
    fetch: () => Promise<ReadResourceResult>,
  ): Promise<ReadResourceResult> {
    return this.#get(this.#key('resource', uri), options, fetch)
  }

  /** Removes one resource, or all entries of a kind. */
  forget(kind: 'prompt' | 'resource', uri?: string): void {
    this.#forgotten += 1
    const { cache } = this.#deps
    const key = this.#key(kind, uri ?? '')
    if (uri === undefined) cache?.deletePrefix(key)
    else cache?.delete(key)
  }

  async #get<Result extends object>(
    key: string,
    { cache: use = 'use' }: CacheableOptions,
    fetch: () => Promise<Result>,
  ): Promise<Result> {
    const { cache, isAway } = this.#deps
    if (cache === undefined || use === 'bypass') return fetch()
    // Under this key are results of this kind alone.
    const held = cache.get(key) as Cached<Result> | undefined
    if (use === 'use' && held?.isFresh === true) return marked(held.value, 'hit')
    // A stale value is better than an error, or a long wait, while the server is away.
    if (held !== undefined && isAway()) return marked(held.value, 'stale')
    const forgotten = this.#forgotten
    try {
      const result = await fetch()
      // A server may say for how long; 0 means that the next reader asks again.
      if (forgotten === this.#forgotten) {
        // A copy: its reader may change the result.
        cache.set(key, structuredClone(result), ttlOf(result))
      }
      return result
    } catch (error) {
      if (!(error instanceof ServerUnavailableError) || held === undefined) throw error
      return marked(held.value, 'stale')
    }
  }

  #key(kind: 'prompt' | 'resource', id: string): string {
    return `${this.#prefix} ${kind} ${id}`
  }
}

function ttlOf(result: object): number | undefined {
  return 'ttlMs' in result && typeof result.ttlMs === 'number' ? result.ttlMs : undefined
}

/** Says on the result itself that it was not fetched just now. */
function marked<Result extends object>(result: Result, how: 'hit' | 'stale'): Result {
  const meta = '_meta' in result && isObject(result._meta) ? result._meta : {}
  return { ...structuredClone(result), _meta: { ...meta, 'mcp-host/cache': how } }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
