import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'

/** The address of a client, through trusted reverse proxies. Throws for a faulty list of proxies. */
export function clientAddress(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => networkOf(socket.remoteAddress ?? '')
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request) => networkOf(proxyAddress(request, isTrusted))
}

/** Groups IPv6 addresses by /64 network, since one client has a whole network. */
function networkOf(address: string): string {
  // Most addresses have no colon, which is found out sooner.
  if (!address.includes(':') || !isIPv6(address) || address.startsWith('::ffff:')) return address
  const [head = ''] = address.split('::', 1)
  const groups = head === '' ? [] : head.split(':')
  return `${Array.from({ length: 4 }, (_, at) => groups[at] ?? '0').join(':')}::/64`
}
