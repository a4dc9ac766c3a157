import { randomUUID } from 'node:crypto'

import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client'

import { ServerUnavailableError } from '@mcp-host/upstream'
import { isObject } from '@mcp-host/json'
import type { CacheableOptions } from '@mcp-host/upstream'
import type { Cached, TtlCache } from './ttl-cache.ts'

export interface ServerCacheDeps {
  /** The cache that all servers share; undefined: no caching. */
  readonly cache: TtlCache<object> | undefined
  /** Whether the server is unavailable. */
  readonly isAway: () => boolean
}

/** Caches the prompts and resources of one server. */
export class ServerCache {
  readonly #deps: ServerCacheDeps
  /**
   * The prefix of this server's keys. It changes with the configuration, so that entries of an earlier one are not
   * found.
   */
  readonly #prefix: string
  /** Counts calls of `forget`: results that were requested before the latest one are not cached. */
  #forgotten = 0

  constructor(deps: ServerCacheDeps, server: string) {
    this.#deps = deps
    this.#prefix = `${server} ${randomUUID()}`
  }

  /** The cached prompt, or the result of `fetch`. */
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

  /** The cached resource, or the result of `fetch`. */
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
    // The key contains the kind of result.
    const cached = cache.get(key) as Cached<Result> | undefined
    if (use === 'use' && cached?.isFresh === true) return marked(cached.value, 'hit')
    // While the server is away, a stale value is better than an error or a long wait.
    if (cached !== undefined && isAway()) return marked(cached.value, 'stale')
    const forgotten = this.#forgotten
    try {
      const result = await fetch()
      // A copy is stored, since the reader may change its result.
      if (forgotten === this.#forgotten) cache.set(key, structuredClone(result), ttlOf(result))
      return result
    } catch (error) {
      if (!(error instanceof ServerUnavailableError) || cached === undefined) throw error
      return marked(cached.value, 'stale')
    }
  }

  #key(kind: 'prompt' | 'resource', id: string): string {
    return `${this.#prefix} ${kind} ${id}`
  }
}

/** The lifetime that the server requests. 0 means that the next reader requests the result again. */
function ttlOf(result: object): number | undefined {
  return 'ttlMs' in result && typeof result.ttlMs === 'number' ? result.ttlMs : undefined
}

/** A copy of a cached result with a mark in its `_meta`. */
function marked<Result extends object>(result: Result, mark: 'hit' | 'stale'): Result {
  const meta = '_meta' in result && isObject(result._meta) ? result._meta : {}
  return { ...structuredClone(result), _meta: { ...meta, 'mcp-host/cache': mark } }
}
