import type { ProxyFor } from '@mcp-host/upstream/proxy'
import { proxiesOf } from '@mcp-host/upstream/proxy'
import type { baseSettings } from './base-settings.ts'
import type { Config } from './settings.ts'

type ProxyConfig = Pick<Config<typeof baseSettings>, 'httpProxy' | 'httpsProxy' | 'noProxy'>

/** Makes `fetch` use the proxies of the settings. Returns which one a URL has, for requests by other means. */
export async function useProxies(config: ProxyConfig): Promise<ProxyFor> {
  const { httpProxy: http, httpsProxy: https, noProxy: except } = config
  const proxyFor = proxiesOf({ http, https, except })
  if (http === undefined && https === undefined) return proxyFor
  // Takes memory, which a process without proxies saves.
  const { Agent, Pool, ProxyAgent, setGlobalDispatcher } = await import('undici')
  const factory = (origin: string | URL, options: object) => {
    const proxy = proxyFor(new URL(origin))
    return proxy === undefined ? new Pool(origin, options) : new ProxyAgent(proxy.href)
  }
  setGlobalDispatcher(new Agent({ factory }))
  return proxyFor
}
