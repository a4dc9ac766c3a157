import { BlockList, isIP } from 'node:net'
import { hostname as nameOfHost, networkInterfaces } from 'node:os'

/** The proxy for requests to a URL; undefined: they are sent without one. */
export type ProxyFor = (url: URL) => URL | undefined

export interface ProxySettings {
  /** The proxy for `http` and `ws`. */
  readonly http: URL | undefined
  /** The proxy for `https` and `wss`. */
  readonly https: URL | undefined
  /** As `NO_PROXY`: hosts with their subdomains, addresses, networks as `10.0.0.0/8`, `*`; each may have a port. */
  readonly except: readonly string[]
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('0.0.0.0', 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')
LOOPBACK.addAddress('::', 'ipv6')

/**
 * Decides about proxies by the rules of curl for `NO_PROXY`. Requests to this machine have none, whatever `NO_PROXY`
 * says, since a proxy would reach its own machine there.
 */
export function proxiesOf({ http, https, except }: ProxySettings): ProxyFor {
  const entries = except.map(readEntry)
  return ({ protocol, hostname, port }) => {
    const isSecure = protocol === 'https:' || protocol === 'wss:'
    const proxy = isSecure ? https : http
    if (proxy === undefined) return undefined
    const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
    const number = port === '' ? (isSecure ? '443' : '80') : port
    const isExcepted = entries.some(
      (entry) => (entry.port === undefined || entry.port === number) && entry.matches(host),
    )
    return isExcepted || isThisMachine(host) ? undefined : proxy
  }
}

interface Entry {
  readonly port: string | undefined
  readonly matches: (host: string) => boolean
}

function readEntry(text: string): Entry {
  // The colons of an IPv6 address without brackets are no sign of a port.
  const [, bracketed, bare = text, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  const name = (bracketed ?? bare).toLowerCase()
  return { port, matches: name === '*' ? () => true : (readNetwork(name) ?? nameMatcher(name)) }
}

/** Undefined for the name of a host. */
function readNetwork(text: string): Entry['matches'] | undefined {
  const [address = '', prefix] = text.split('/')
  const version = isIP(address)
  if (version === 0) return undefined
  const most = version === 4 ? 32 : 128
  const bits = Number(prefix ?? most)
  if (!Number.isInteger(bits) || bits < 0 || bits > most) return () => false
  const network = new BlockList()
  network.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6')
  return (host) => isIn(network, host)
}

function nameMatcher(text: string): Entry['matches'] {
  const name = text.replace(/^\*?\./, '').replace(/\.$/, '')
  return (host) => host === name || (host.endsWith(`.${name}`) && isIP(host) === 0)
}

/** Names of this machine; the last ones are those inside of a container. */
const OWN_NAMES = /^((.*\.)?localhost|(host|gateway)\.(docker|containers)\.internal)$/

function isThisMachine(host: string): boolean {
  if (isIP(host) === 0) return OWN_NAMES.test(host) || host === nameOfHost().toLowerCase()
  if (isIn(LOOPBACK, host)) return true
  return Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === host),
  )
}

function isIn(network: BlockList, host: string): boolean {
  const version = isIP(host)
  return version !== 0 && network.check(host, version === 4 ? 'ipv4' : 'ipv6')
}
