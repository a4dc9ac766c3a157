import { Accounts, invitationLink, Invitations } from '@mcp-host/auth'
import { gatewaySettings } from '@mcp-host/gateway/config'
import { isLoopback, loadConfig } from '@mcp-host/service'
import type { BrokerAddress } from '../host/connect-quietly.ts'
import { connectQuietly } from '../host/connect-quietly.ts'
import { publicUrl } from '../host/public-url.ts'
import type { Env } from '../host/read-env.ts'

export interface FirstAdmin {
  /** The page that creates the first admin; absent when there is an admin, or when none is needed. */
  readonly link?: string
  /** The message for the operator. */
  readonly note?: string
}

/**
 * A link for the first admin of a host with AUTH=local, for its console. The links in the logs of gateways are as good.
 */
export async function firstAdminLink(
  broker: BrokerAddress,
  env: Env,
  gatewayUrl?: string,
): Promise<FirstAdmin> {
  const { auth, publicUrl: given } = loadConfig(gatewaySettings, env)
  if (!auth.includes('local')) return {}
  const url = publicUrl(env, gatewayUrl)
  const note =
    given === undefined && !isLoopback(new URL(url).hostname)
      ? {
          note: `clients log in at ${url}; over a network most of them demand https: see PUBLIC_URL in docs/guides/secure.md`,
        }
      : {}
  await using bus = await connectQuietly(broker, 'starter')
  const accounts = await Accounts.open(bus)
  if (accounts.hasAdmin) return note
  const { token } = await (await Invitations.open(bus, accounts)).offerFirstAdmin()
  return { ...note, link: invitationLink(url, token) }
}
