import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'

/** The address of a client, through trusted reverse proxies. Throws for a faulty list of proxies. */
export function clientAddress(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string {
  const peerOf = ({ socket }: IncomingMessage): string =>
    networkOf(socket.remoteAddress ?? '') ?? ''
  if (trustedProxies.length === 0) return peerOf
  const isTrusted = proxyAddress.compile([...trustedProxies])
  // All that a proxy forwards without a readable address is one client, so that no text gets a limit of its own.
  return (request) => networkOf(proxyAddress(request, isTrusted)) ?? `unknown of ${peerOf(request)}`
}

/**
 * The one spelling of an address; `undefined` for other texts. IPv6 addresses are grouped by /64 network, since one
 * client has a whole network.
 */
function networkOf(text: string): string | undefined {
  // Most addresses are of this kind.
  if (isIPv4(text)) return text
  const address = withoutPort(text)
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return undefined
  // The URL standard has one spelling for each address.
  const host = URL.parse(`http://[${address.split('%', 1)[0]}]`)?.hostname.slice(1, -1) ?? ''
  const [head = '', tail] = host.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  const isMapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  if (!isMapped) return `${groups.slice(0, 4).join(':')}::/64`
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.')
}

/** Some proxies forward `192.0.2.1:80` or `[2001:db8::1]:80`. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\](?::\d+)?|([^:]+):\d+)$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}
