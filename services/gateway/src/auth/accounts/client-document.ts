import { type GuardedFetch, guardedFetch, type ProxyFor } from '@mcp-host/upstream/proxy'
import { errors } from 'oidc-provider'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024
/** Limits for fetches at the same time, in all and for one address of clients. */
const MAX_FETCHES = { all: 64, address: 8 }

export interface ClientDocumentsDeps {
  /** Names that may have an internal address. */
  readonly internalHosts: readonly string[]
  readonly proxyFor: ProxyFor
  /** The address of the client whose request is handled. */
  readonly currentAddress: () => string | undefined
}

/**
 * Fetches metadata documents of clients, whose addresses anybody can choose, from public addresses.
 */
export class ClientDocuments {
  readonly #deps: ClientDocumentsDeps
  readonly #fetch: GuardedFetch
  readonly #running = new Map<string | undefined, number>()
  #count = 0

  constructor(deps: ClientDocumentsDeps) {
    this.#deps = deps
    const { internalHosts, proxyFor } = deps
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }
    this.#fetch = guardedFetch({ internalHosts, proxyFor, ...limits })
  }

  /** Throws when too many fetches run. The library coalesces fetches of the same document. */
  checkRoom(): void {
    const running = this.#running.get(this.#deps.currentAddress())
    const isFull = this.#count >= MAX_FETCHES.all
    if (!isFull && (running ?? 0) < MAX_FETCHES.address) return
    throw new errors.TemporarilyUnavailable(
      isFull
        ? `${MAX_FETCHES.all} documents of clients are fetched at a time; try again`
        : `${MAX_FETCHES.address} documents of clients are fetched for one address at a time; try again`,
    )
  }

  async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    if ((init.method ?? 'GET') !== 'GET') throw new Error('a document is fetched by GET alone')
    this.checkRoom()
    const address = this.#deps.currentAddress()
    this.#add(address, 1)
    try {
      return await this.#fetch(input, init)
    } finally {
      this.#add(address, -1)
    }
  }

  #add(address: string | undefined, amount: number): void {
    this.#count += amount
    // Pages for users fetch outside of a request that the library handles, for many addresses.
    if (address === undefined) return
    const left = (this.#running.get(address) ?? 0) + amount
    if (left === 0) this.#running.delete(address)
    else this.#running.set(address, left)
  }
}
