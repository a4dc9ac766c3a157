import { readFile } from 'node:fs/promises'
import type { Bus, Counter } from '@mcp-host/bus'
import { BusError, SCOPES } from '@mcp-host/contracts'
import type { Config, Logger } from '@mcp-host/service'
import { decodeText, readFault } from '@mcp-host/json'
import { Secret } from '@mcp-host/service'
import type { FastifyInstance } from 'fastify'
import type { GatewayAudit } from '../../gateway-audit.ts'
import type { GatewayLimits } from '../../limits/gateway-limits.ts'
import type { authSettings } from '../auth-settings.ts'
import type { Attempts } from '../login/attempts.ts'
import type { ProviderPages } from '../login/login-routes.ts'
import type { MakerCheck } from '../maker-check.ts'
import type { LoginSessions } from '../session/login-sessions.ts'
import { IdentityProvider } from './identity-provider.ts'
import { LoginStarts } from './login-starts.ts'
import { addProviderLogin, providerLoginPath } from './provider-login-routes.ts'

export interface ProviderLoginDeps {
  readonly bus: Pick<Bus, 'bucket' | 'clock'>
  readonly logger: Logger
  readonly counter: Promise<Counter>
  readonly logins: LoginSessions
  readonly makers: Pick<MakerCheck, 'isDisabled'>
  readonly publicUrl: string
}

/** The login of browsers at an identity provider. */
export interface ProviderLogin {
  readonly pages: ProviderPages
  /** Adds the routes of the login to those of pages. */
  addTo(
    app: FastifyInstance,
    deps: {
      readonly limits: Pick<GatewayLimits, 'addressOf'>
      readonly audit: GatewayAudit
      readonly attempts: Attempts
      readonly home: string
    },
  ): void
}

/**
 * Opens the login that `OIDC_CLIENT_ID` configures. Its modules are loaded only with this setting, since they take 7
 * MB.
 */
export async function openProviderLogin(
  { bus, logger, counter, logins, makers, publicUrl }: ProviderLoginDeps,
  config: Omit<Config<typeof authSettings>, 'publicUrl'>,
): Promise<ProviderLogin> {
  const { oidcIssuer: issuer = '', oidcClientId: clientId = '' } = config
  const secret = config.oidcClientSecret ?? (await readSecret(config.oidcClientSecretFile ?? ''))
  const provider = new IdentityProvider({
    issuer,
    clientId,
    clientSecret: secret.open(),
    scopes: config.oidcScopes,
    publicUrl,
    rolesClaim: config.oidcRolesClaim,
    defaultRoles: config.defaultRoles,
    defaultScopes: SCOPES,
    userClaim: config.oidcUserClaim,
    prefix: 'oidc',
  })
  const starts = await LoginStarts.open(bus)
  return {
    pages: {
      name: new URL(issuer).host,
      loginPath: providerLoginPath,
      logoutUrl: async ({ idToken }) =>
        idToken === undefined ? undefined : provider.logoutUrl(idToken),
    },
    addTo(app, { limits: { addressOf }, audit, attempts, home }) {
      const { clock } = bus
      const parts = { provider, starts, logins, makers, attempts, counter, clock, publicUrl }
      addProviderLogin(app, { ...parts, addressOf, audit, logger, home })
    },
  }
}

/** Reads the secret from a file that has nothing else in it. Throws `invalid` with the name of the setting. */
async function readSecret(file: string): Promise<Secret> {
  let secret: string
  try {
    secret = decodeText(await readFile(file)).trim()
  } catch (cause) {
    const message = `OIDC_CLIENT_SECRET_FILE=${file}: ${readFault(cause)}; it must be a file with the client secret alone`
    throw new BusError('invalid', message, { cause })
  }
  if (secret !== '') return new Secret(secret)
  throw new BusError('invalid', `OIDC_CLIENT_SECRET_FILE=${file}: must not be empty`)
}
