import type { AuthConfig } from '../auth/index.ts'
import type { CommonServerConfig, InstanceConfig } from '../server-config.ts'
import type { EndpointKind } from './endpoint-kind.ts'
import type { OpenTransport } from './remote-endpoint.ts'
import { openRemote } from './remote-endpoint.ts'
import { shownUrl } from './shown-url.ts'

/** A server at an address: Streamable HTTP, the older HTTP+SSE, or a WebSocket. */
export interface RemoteServerConfig extends CommonServerConfig {
  readonly type: 'http' | 'sse' | 'websocket'
  /** Only for `http`: whether HTTP+SSE is tried when the server refuses Streamable HTTP. */
  readonly fallback?: 'sse'
  /** The address: `http(s)://…`, or `ws(s)://…` for a WebSocket. */
  readonly url: string
  /** Headers of every HTTP request, and of the opening request of a WebSocket. */
  readonly headers: Readonly<Record<string, string>>
  /** How the tokens for the server are got; absent: it gets the headers alone. */
  readonly auth?: AuthConfig
  /** Several addresses that share the requests, with the differences of each. */
  readonly instances?: readonly RemoteInstance[]
}

export interface RemoteInstance extends InstanceConfig {
  /** Replaces the address of the server. */
  readonly url?: string
  /** Headers in addition to the server's. They win over equal names. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What the kinds of servers with an address have in common. */
export function remote(
  label: string,
  open: OpenTransport<RemoteServerConfig>,
): EndpointKind<RemoteServerConfig> {
  return {
    label,
    isProcess: false,
    restart: 'on-failure',
    open: (deps, config) => openRemote(deps, config, open),
    secrets: ({ headers, url }) => [headers, originOf(url)],
    address: ({ url }) => ({ whole: url, shown: shownUrl(url) }),
    instances(config) {
      const { instances, balance: _, ...shared } = config
      return instances?.map(({ weight = 1, headers = {}, ...rest }) => {
        const merged = mergeHeaders(shared.headers, headers)
        return { weight, config: { ...shared, ...rest, headers: merged } }
      })
    },
  }
}

/** The part of an address that errors have to name. Paths and queries may have a key. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}

/** Merges headers, whose names are case-insensitive. */
function mergeHeaders(
  shared: Readonly<Record<string, string>>,
  specific: Readonly<Record<string, string>>,
): Record<string, string> {
  const replaced = new Set(Object.keys(specific).map((name) => name.toLowerCase()))
  const others = Object.entries(shared).filter(([name]) => !replaced.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...specific }
}
