import { isIP } from 'node:net'

/** A name or an address, with IPv6 in brackets, and a port; no path and no user. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*\.?)(?::\d{1,5})?$/i

/**
 * The host and port of a `Host` header in the normal form of `URL`: in lower case, without the default port of the
 * scheme and the dot at the end of a name. `undefined` for an invalid header.
 */
export function readHost(header: string, scheme = 'http:'): URL | undefined {
  if (!HOST.test(header)) return undefined
  return URL.parse(`${scheme}//${header.replace(/\.(?=:|$)/, '')}`) ?? undefined
}

/** Whether a host name or address can only mean this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase()
  if (name === 'localhost' || /^[\w.-]+\.localhost$/.test(name)) return true
  const bare = name.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 4 ? bare.startsWith('127.') : bare === '::1'
}
