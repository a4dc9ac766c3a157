import type { ServerName } from '@mcp-host/contracts'
import type { LoginHandlers } from '@mcp-host/mcp-bus/serve'
import type { LoginServer } from '@mcp-host/upstream'
import { describeLogin, takeLogin } from '@mcp-host/upstream'
import { explaining } from './explaining.ts'
import type { HostLogins } from './host-logins.ts'

/** Takes logins that programs of users made themselves, and says how they are made. */
export function broughtLogins(
  { vault, inbox }: Pick<HostLogins, 'vault' | 'inbox'>,
  serverAt: (name: ServerName) => LoginServer,
): Pick<LoginHandlers, 'describe' | 'bring'> {
  return {
    async describe({ request: { server } }) {
      const at = serverAt(server)
      return explaining(server, () => describeLogin(at))
    },

    async bring({ request: { server, label, sealed }, envelope: { principal } }) {
      const at = serverAt(server)
      const account = { server, url: at.url, principal, label }
      const { client_id: clientId, ...tokens } = await inbox.open(sealed, account)
      const login = await explaining(server, () => takeLogin(at, { tokens, clientId }), 'invalid')
      await vault.add(account, login)
      return {}
    },
  }
}
