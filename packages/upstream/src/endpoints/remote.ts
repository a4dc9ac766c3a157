import type { RemoteServerConfig } from '../server-config.ts'
import type { EndpointKind } from './endpoint-kind.ts'
import type { OpenTransport } from './remote-endpoint.ts'
import { openRemote } from './remote-endpoint.ts'
import { shownUrl } from './shown-url.ts'

/** What the kinds of servers with an address have in common. */
export function remote(label: string, open: OpenTransport): EndpointKind<RemoteServerConfig> {
  return {
    label,
    isProcess: false,
    restart: 'on-failure',
    open: (deps, config) => openRemote(deps, config, open),
    secrets: ({ headers, url }) => [headers, originOf(url)],
    address: ({ url }) => ({ whole: url, shown: shownUrl(url) }),
    instances(config) {
      const { instances = [], balance: _, ...shared } = config
      return instances.map(({ weight = 1, headers = {}, ...rest }) => {
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
