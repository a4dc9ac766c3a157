import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectSecure } from 'node:tls'
import { openTunnel } from './open-tunnel.ts'
import type { ProxyFor } from './proxy-for.ts'
import { findPublic, internal, isInternal, publicLookup } from './public-address.ts'

export interface GuardedFetchOptions {
  /** Hosts that may have an internal address. */
  readonly internalHosts?: readonly string[]
  /** Origins that may have an internal address, and no TLS if they say so. Of this machine, all ports are meant. */
  readonly trusted?: readonly string[]
  readonly proxyFor: ProxyFor
  /** The time limit for the whole answer, in milliseconds. */
  readonly timeoutMs: number
  /** The limit for the body of the answer. */
  readonly maxBytes: number
}

export type GuardedFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

interface Target {
  readonly host: string
  readonly port: number | string
  readonly isExpected: boolean
  readonly isSecure: boolean
}

// There is no socket beside an error, whatever the types of Node.js say.
type Connected = (error: Error | null, socket: Duplex) => void

/** The statuses of answers that have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * A `fetch` for addresses that others choose. Only HTTPS to public addresses is allowed, so that nobody reaches internal
 * services through this host or its proxy. Redirects are not followed. A body is text or a `URLSearchParams`.
 */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const isTrusted = options.trusted?.some((each) => isMeant(url, new URL(each))) === true
    const isExpected = isTrusted || options.internalHosts?.includes(host) === true
    if (url.protocol !== 'https:' && !(isTrusted && url.protocol === 'http:'))
      throw new Error(`${url.origin}: only https is fetched`)
    if (!isExpected && isIP(host) !== 0 && isInternal(host)) throw internal(host)
    return fetchFrom(options, { url, host, isExpected }, init)
  }
}

function fetchFrom(
  { proxyFor, timeoutMs, maxBytes }: GuardedFetchOptions,
  { url, host, isExpected }: Pick<Target, 'host' | 'isExpected'> & { readonly url: URL },
  { headers, method = 'GET', body, signal }: RequestInit,
): Promise<Response> {
  const proxy = proxyFor(url)
  const isSecure = url.protocol === 'https:'
  const late = AbortSignal.timeout(timeoutMs)
  const sent = body instanceof URLSearchParams ? body.toString() : (body ?? undefined)
  if (sent !== undefined && typeof sent !== 'string') throw new TypeError('a body must be text')
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestSecure : requestPlain)(
      url,
      {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        ...(proxy === undefined
          ? // Connects to the address that was checked.
            { agent: false, ...(isExpected ? {} : { lookup: publicLookup }) }
          : {
              createConnection(_: object, done: Connected) {
                const port = url.port === '' ? (isSecure ? 443 : 80) : url.port
                const target = { host, port, isExpected, isSecure }
                connectThrough(proxy, target).then(
                  (socket) => done(null, socket),
                  // With an error, no socket is needed.
                  done as (error: Error) => void,
                )
                return undefined
              },
            }),
        signal: signal == null ? late : AbortSignal.any([late, signal]),
      },
      (response) => {
        const pieces: Buffer[] = []
        let bytes = 0
        response.on('error', reject)
        response.on('data', (piece: Buffer) => {
          bytes += piece.length
          if (bytes > maxBytes) request.destroy(new Error('the answer is too large'))
          else pieces.push(piece)
        })
        response.on('end', () => {
          const status = response.statusCode ?? 502
          const fields = Object.entries(response.headers).flatMap(([name, value]) =>
            value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
          )
          const hasBody = !WITHOUT_BODY.has(status)
          try {
            resolve(
              new Response(hasBody ? Buffer.concat(pieces) : null, { status, headers: fields }),
            )
          } catch {
            reject(new Error(`${url.origin} answered with the status ${status}`))
          }
        })
      },
    )
    request.on('error', reject)
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error(`${url.origin} answered with another protocol`))
    })
    request.end(sent)
  })
}

/** Whether an address is at a trusted origin. On this machine, servers have many ports and one owner. */
function isMeant({ origin, hostname, protocol }: URL, trusted: URL): boolean {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  return (
    origin === trusted.origin ||
    (isLoopback && hostname === trusted.hostname && protocol === trusted.protocol)
  )
}

/** The proxy gets the address that was checked, since it may find another one by the name. */
async function connectThrough(
  proxy: URL,
  { host, port, isExpected, isSecure }: Target,
): Promise<Duplex> {
  const [checked] = isExpected ? [{ address: host }] : await findPublic(host, { all: true })
  const socket = await openTunnel(proxy, { host: checked.address, port })
  if (!isSecure) return socket
  return connectSecure({ socket, servername: isIP(host) === 0 ? host : '' })
}
