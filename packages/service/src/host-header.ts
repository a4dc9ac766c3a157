import { isIP } from 'node:net'

/** A name or an address, an IPv6 one in brackets, and a port: nothing of a path or a user. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*\.?)(?::\d{1,5})?$/i

/**
 * The host and port that a `Host` header names, written as `URL` writes them: in lower case, without the usual port of
 * the scheme and the dot that may end a name. `undefined` when it names none.
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
