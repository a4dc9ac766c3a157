import type { Config } from '@mcp-host/service'
import type { CrossCheck } from '@mcp-host/service'
import {
  approvalSettings,
  auditSettings,
  isLoopback,
  policySettings,
  setting,
  values,
} from '@mcp-host/service'
import { authSettings } from './auth/auth-settings.ts'
import { gatewayLimitSettings } from './limits/gateway-limit-settings.ts'

export { authSettings, gatewayLimitSettings }

/** Settings of the gateways. */
export const gatewaySettings = {
  port: setting({
    env: 'PORT',
    schema: values.integer(0, 65_535),
    default: '3000',
    describe:
      'Port of the gateway; 0 takes a free one. On Linux several gateways of one user may share it.',
  }),
  host: setting({
    env: 'HOST',
    schema: values.text,
    default: '127.0.0.1',
    describe: 'Address the gateway listens on. Only a loopback address while AUTH is none.',
  }),
  allowedOrigins: setting({
    env: 'ALLOWED_ORIGINS',
    schema: values.list.superRefine((origins, context) => {
      const faulty = origins.filter((each) => URL.parse(each)?.origin !== each)
      if (faulty.length === 0) return
      const message = `${faulty.join(', ')} must be scheme://host[:port] and nothing more`
      context.addIssue({ code: 'custom', message })
    }),
    default: '',
    describe:
      'Web origins, besides those on loopback, whose pages may connect; by commas, as https://chat.example.com.',
  }),
  bundlesConfig: setting({
    env: 'BUNDLES_CONFIG',
    schema: values.text,
    default: 'bundles.json',
    describe:
      'File with bundles of MCP servers, offered at /mcp/bundles/<name>; read again when it changes. The default file may be missing; `none` means no file.',
  }),
  webFolder: setting({
    env: 'WEB_FOLDER',
    schema: values.text.optional(),
    describe:
      'Folder with the built web UI, served at /; `npm start` builds it and sets this. Unset: browsers get a page with the state of the host.',
  }),
  heartbeatMs: setting({
    env: 'HEARTBEAT_MS',
    schema: values.integer(100, 600_000),
    default: '30000',
    describe: 'How often a socket is pinged, in milliseconds; one that misses two is closed.',
  }),
  mcpStreamMs: setting({
    env: 'MCP_STREAM_MS',
    schema: values.integer(0, 86_400_000),
    default: '0',
    describe:
      'How long the stream of one request at /mcp stays open before a client of 2025-11-25 has to reconnect for the rest, in milliseconds: less than the time limit of proxies. 0: until the request ends.',
  }),
  ...approvalSettings,
  ...policySettings,
  ...authSettings,
  ...gatewayLimitSettings,
  ...auditSettings,
}

/** Checks combinations of settings that are each valid on their own. */
export const checkGatewaySettings: CrossCheck<typeof gatewaySettings> = (config) => {
  const { auth, host, oidcIssuer } = config
  const problems: string[] = []
  if (auth.includes('none') && !isLoopback(host)) {
    problems.push(
      `HOST=${host}: must be a loopback address (127.0.0.1, ::1, localhost) while AUTH is none; set AUTH=local, AUTH=keys or AUTH=oidc`,
    )
  }
  if (auth.includes('oidc') && oidcIssuer === undefined) {
    problems.push('OIDC_ISSUER: is required by AUTH=oidc')
  }
  return [...problems, ...loginProblems(config)]
}

/** The faults in the settings for logins at the identity provider. */
function loginProblems(config: Config<typeof gatewaySettings>): readonly string[] {
  const { auth, oidcIssuer, oidcClientId, oidcClientSecret, oidcClientSecretFile } = config
  const secrets = [oidcClientSecret, oidcClientSecretFile].filter((each) => each !== undefined)
  const isIncomplete = oidcClientId === undefined && secrets.length > 0
  if (isIncomplete) return ['OIDC_CLIENT_ID: is required by the client secret']
  if (oidcClientId === undefined) return []
  const problems: string[] = []
  if (!auth.includes('oidc')) {
    problems.push(`AUTH=${auth.join(',')}: must have oidc, for OIDC_CLIENT_ID`)
  }
  if (secrets.length !== 1) {
    const amount = secrets.length === 0 ? 'one' : 'only one'
    const names = 'OIDC_CLIENT_SECRET, OIDC_CLIENT_SECRET_FILE'
    problems.push(`${names}: ${amount} of them is required by OIDC_CLIENT_ID`)
  }
  const issuer = oidcIssuer === undefined ? undefined : new URL(oidcIssuer)
  if (issuer?.protocol === 'http:' && !isLoopback(issuer.hostname)) {
    const reason = 'the client secret would be sent to it in the open'
    problems.push(`OIDC_ISSUER=${oidcIssuer}: must be https with OIDC_CLIENT_ID; ${reason}`)
  }
  return problems
}

export type GatewayConfig = Config<typeof gatewaySettings>
