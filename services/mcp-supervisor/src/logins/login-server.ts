import type { LoginServerConfig } from '@mcp-host/mcp-bus/serve'
import type { LoginServer } from '@mcp-host/upstream'

/** What logins at a server need to know of it. Of a program that is its authorization server alone. */
export function loginServerOf(config: LoginServerConfig): Omit<LoginServer, 'proxyFor'> {
  const { auth } = config
  return config.type === 'stdio'
    ? { url: config.auth.issuer, isProgram: true, headers: {}, auth }
    : { url: config.url, isProgram: false, headers: config.headers, auth }
}
