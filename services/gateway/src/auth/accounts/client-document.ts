import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { get } from 'node:https'
import type { LookupFunction } from 'node:net'
import { BlockList, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectSecure } from 'node:tls'
import { openTunnel, type ProxyFor } from '@mcp-host/upstream/proxy'
import { errors } from 'oidc-provider'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 * 1024
/** Limits for fetches at the same time, in all and for one address of clients. */
const MAX_FETCHES = { all: 64, address: 8 }

interface Target {
  readonly host: string
  readonly port: number | string
  readonly isExpected: boolean
}

// There is no socket beside an error, whatever the types of Node.js say.
type Connected = (error: Error | null, socket: Duplex) => void
type Addresses = [LookupAddress, ...LookupAddress[]]

export interface ClientDocumentsDeps {
  /** Names that may have an internal address. */
  readonly internalHosts: readonly string[]
  readonly proxyFor: ProxyFor
  /** The address of the client whose request is handled. */
  readonly currentAddress: () => string | undefined
}

/** Addresses outside of the public Internet. */
const INTERNAL = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  INTERNAL.addSubnet(net, prefix, 'ipv4')
}
for (const [net, prefix] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['3fff::', 20],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  INTERNAL.addSubnet(net, prefix, 'ipv6')
}

/**
 * Fetches metadata documents of clients, whose addresses anybody can choose. Only HTTPS to public addresses is allowed,
 * so that no client reaches internal services through this host or its proxy. Redirects are not followed.
 */
export class ClientDocuments {
  readonly #deps: ClientDocumentsDeps
  readonly #running = new Map<string | undefined, number>()
  #count = 0

  constructor(deps: ClientDocumentsDeps) {
    this.#deps = deps
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

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    this.checkRoom()
    const address = this.#deps.currentAddress()
    this.#add(address, 1)
    try {
      return await fetchClientDocument(this.#deps, input, init)
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

function fetchClientDocument(
  { internalHosts, proxyFor }: ClientDocumentsDeps,
  input: string | URL | Request,
  { headers, method = 'GET' }: RequestInit = {},
): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (url.protocol !== 'https:' || method !== 'GET') {
    return Promise.reject(new Error('only https is fetched'))
  }
  const isExpected = internalHosts.includes(host)
  if (!isExpected && isIP(host) !== 0 && isInternal(host)) return Promise.reject(internal(host))
  const proxy = proxyFor(url)
  return new Promise((resolve, reject) => {
    const request = get(
      url,
      {
        headers: Object.fromEntries(new Headers(headers)),
        ...(proxy === undefined
          ? // Connects to the address that was checked.
            { agent: false, ...(isExpected ? {} : { lookup: publicLookup }) }
          : {
              createConnection(_: object, done: Connected) {
                const target = { host, port: url.port === '' ? 443 : url.port, isExpected }
                connectThrough(proxy, target).then(
                  (socket) => done(null, socket),
                  // With an error, no socket is needed.
                  done as (error: Error) => void,
                )
                return undefined
              },
            }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      (response) => {
        const pieces: Buffer[] = []
        let bytes = 0
        response.on('error', reject)
        response.on('data', (piece: Buffer) => {
          bytes += piece.length
          if (bytes > MAX_BYTES) request.destroy(new Error('the document is too large'))
          else pieces.push(piece)
        })
        response.on('end', () => {
          const fields = Object.entries(response.headers).flatMap(([name, value]) =>
            value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
          )
          const status = response.statusCode ?? 502
          const hasBody = status !== 204 && status !== 304
          resolve(new Response(hasBody ? Buffer.concat(pieces) : null, { status, headers: fields }))
        })
      },
    )
    request.on('error', reject)
  })
}

/** The proxy gets the address that was checked, since it may find another one by the name. */
async function connectThrough(proxy: URL, { host, port, isExpected }: Target): Promise<Duplex> {
  const [checked] = isExpected ? [{ address: host }] : await findPublic(host, { all: true })
  const socket = await openTunnel(proxy, { host: checked.address, port })
  return connectSecure({ socket, servername: isIP(host) === 0 ? host : '' })
}

const publicLookup: LookupFunction = (host, { family, hints }, callback) => {
  const about = {
    all: true as const,
    ...(family === undefined ? {} : { family: family as 0 | 4 | 6 }),
    ...(hints === undefined ? {} : { hints }),
  }
  findPublic(host, about).then(
    (found) => callback(null, found),
    (error: Error) => callback(error, []),
  )
}

async function findPublic(host: string, about: LookupAllOptions): Promise<Addresses> {
  const [first, ...others] = await lookup(host, about)
  if (first === undefined || [first, ...others].some(({ address }) => isInternal(address))) {
    throw internal(host)
  }
  return [first, ...others]
}

export function isInternal(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return INTERNAL.check(mapped, 'ipv4')
  return INTERNAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

function internal(host: string): Error {
  return new Error(`${host} is no public address`)
}
