import { networkInterfaces } from 'node:os'
import { isLoopback } from '@mcp-host/service'

export interface PublicAddress {
  /**
   * The address at which clients reach this host and which its tokens name as their issuer. It has no slash at its end.
   */
  readonly publicUrl: string
  /** All addresses of this host, the public one first. */
  readonly origins: readonly string[]
}

interface AddressSettings {
  readonly publicUrl: string | undefined
  readonly host: string
  readonly port: number
}

/**
 * The addresses of a host. Without `PUBLIC_URL` they are guessed: a host that listens on all addresses takes the first
 * network address of this machine. All names of this machine are then equivalent.
 */
export function publicAddress(
  { publicUrl, host, port }: AddressSettings,
  interfaces: typeof networkInterfaces = networkInterfaces,
): PublicAddress {
  if (publicUrl !== undefined) return { publicUrl, origins: [publicUrl] }
  const isWildcard = host === '0.0.0.0' || host === '::' || host === '[::]'
  const own = isWildcard ? (networkAddress(interfaces) ?? '127.0.0.1') : host
  const origin = (name: string): string =>
    `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  const local = isWildcard || isLoopback(host) ? ['127.0.0.1', 'localhost', '::1'] : []
  return { publicUrl: origin(own), origins: Array.from(new Set([own, ...local].map(origin))) }
}

function networkAddress(interfaces: typeof networkInterfaces): string | undefined {
  return Object.values(interfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}
