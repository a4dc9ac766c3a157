import type { LoginServerConfig } from '@mcp-host/mcp-bus/serve'
import type { LoginServer } from '@mcp-host/upstream'

/** The configuration of logins at a server. A program has only the address of its authorization server. */
export function loginServerOf(config: LoginServerConfig): Omit<LoginServer, 'proxyFor'> {
  const { auth } = config
  return config.type === 'stdio'
    ? { url: config.auth.issuer, isProgram: true, headers: {}, auth }
    : { url: config.url, isProgram: false, headers: config.headers, auth }
}
