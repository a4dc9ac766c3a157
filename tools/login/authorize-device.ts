import type { BroughtTokens, LoginDescription } from '@mcp-host/client'
import { isLoopback } from '@mcp-host/service'
import {
  allowInsecureRequests,
  Configuration,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
} from 'openid-client'
import { z } from 'zod'
import { CommandError } from '../command-line.ts'

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const LIMIT_MS = 15_000

/** What the user does in a browser. */
interface DevicePage {
  readonly address: string
  readonly code: string
  readonly minutes: number
}

/**
 * Gets tokens for a server by a login in a browser on another device (RFC 8628). Throws `CommandError` where the
 * authorization server has no such login, or the user refuses it.
 */
export async function authorizeDevice(
  { issuer, tokenEndpoint, deviceAuthorizationEndpoint, ...described }: LoginDescription,
  show: (page: DevicePage) => void,
): Promise<BroughtTokens> {
  if (deviceAuthorizationEndpoint === undefined || tokenEndpoint === undefined) {
    const instead =
      'open the address /connect/SERVER of the host in a browser, or pass a token by --with-token'
    throw new CommandError(`${issuer} has no login for devices (RFC 8628): ${instead}`)
  }
  const clientId = described.clientId ?? (await register(issuer, described.registrationEndpoint))
  const metadata = {
    issuer,
    token_endpoint: tokenEndpoint,
    device_authorization_endpoint: deviceAuthorizationEndpoint,
  }
  const config = new Configuration(metadata, clientId, undefined, None())
  if (isLocal(tokenEndpoint)) allowInsecureRequests(config)
  const { scope, resource } = described
  const target = {
    ...(scope === undefined ? {} : { scope }),
    ...(resource === undefined ? {} : { resource }),
  }
  try {
    const begun = await initiateDeviceAuthorization(config, target)
    const { verification_uri: address, user_code: code, expires_in: seconds } = begun
    show({ address, code, minutes: Math.floor(seconds / 60) })
    const poll = resource === undefined ? {} : { resource }
    const tokens = await pollDeviceAuthorizationGrant(config, begun, poll)
    const { access_token, token_type, expires_in, refresh_token, scope: granted } = tokens
    return {
      access_token,
      token_type,
      ...(expires_in === undefined ? {} : { expires_in }),
      ...(refresh_token === undefined ? {} : { refresh_token }),
      ...(granted === undefined ? {} : { scope: granted }),
      client_id: clientId,
    }
  } catch (cause) {
    throw new CommandError(`${issuer} gave no token: ${reasonOf(cause)}`, { cause })
  }
}

/** Registers this program as a client (RFC 7591), and returns its id. */
async function register(issuer: string, endpoint: string | undefined): Promise<string> {
  if (endpoint === undefined) {
    throw new CommandError(
      `${issuer} registers no clients by itself: register one there, and set its "clientId" in mcp.json`,
    )
  }
  if (!endpoint.startsWith('https:') && !isLocal(endpoint)) {
    throw new CommandError(`${issuer} registers clients without TLS, at ${endpoint}`)
  }
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'mcp-host',
      grant_types: [DEVICE_GRANT, 'refresh_token'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    }),
    signal: AbortSignal.timeout(LIMIT_MS),
  })
  const { data } = Registered.safeParse(await response.json().catch(() => undefined))
  if (data !== undefined) return data.client_id
  throw new CommandError(`${issuer} did not register this client (${response.status})`)
}

const Registered = z.object({ client_id: z.string() })

/** Whether a request stays on this machine, so that it needs no TLS. */
function isLocal(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'http:' && isLoopback(hostname)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // What the authorization server said (RFC 6749, section 5.2).
  const { error: code, error_description: description } = Object(error)
  return [code, description].filter((part) => typeof part === 'string').join(': ') || error.message
}
