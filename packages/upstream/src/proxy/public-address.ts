import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { BlockList, isIP } from 'node:net'

/** Addresses outside of the public Internet. */
const INTERNAL = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Services of Azure for its machines.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
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
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['5f00::', 16],
  ['fc00::', 7],
  ['3fff::', 20],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  INTERNAL.addSubnet(net, prefix, 'ipv6')
}

type Addresses = [LookupAddress, ...LookupAddress[]]

/** Finds addresses as `dns.lookup` does. Fails where one of them is outside of the public Internet. */
export const publicLookup: LookupFunction = (host, { family, hints }, callback) => {
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

/** The addresses of a host. Throws where one of them is outside of the public Internet. */
export async function findPublic(host: string, about: LookupAllOptions): Promise<Addresses> {
  const [first, ...others] = await lookup(host, about)
  if (first === undefined || [first, ...others].some(({ address }) => isInternal(address))) {
    throw internal(host)
  }
  return [first, ...others]
}

/** Whether an IP address is outside of the public Internet. */
export function isInternal(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return INTERNAL.check(mapped, 'ipv4')
  return INTERNAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** The error for a host without a public address. */
export function internal(host: string): Error {
  return new Error(`${host} is no public address`)
}
