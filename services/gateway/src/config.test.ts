import { loadConfig } from '@mcp-host/service'
import { expect, test } from 'vitest'
import { checkGatewaySettings, gatewaySettings } from './config.ts'

function load(env: Record<string, string>): ReturnType<typeof loadConfig<typeof gatewaySettings>> {
  return loadConfig(gatewaySettings, env, checkGatewaySettings)
}

test('a gateway without settings listens on loopback', () => {
  expect(load({})).toMatchObject({ port: 3000, host: '127.0.0.1', auth: ['none'] })
})

test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('HOST=%s is loopback', (host) => {
  expect(load({ HOST: host }).host).toBe(host)
})

test.each(['0.0.0.0', '::', '192.168.0.7', 'example.com', 'localhost.example.com'])(
  'HOST=%s is refused while clients need not authenticate',
  (host) => {
    expect(() => load({ HOST: host })).toThrow(`HOST=${host}: must be a loopback address`)
    expect(load({ HOST: host, AUTH: 'keys' }).host).toBe(host)
  },
)

const provider = { AUTH: 'oidc', OIDC_ISSUER: 'https://idp.example' }
const client = { ...provider, OIDC_CLIENT_ID: 'host', OIDC_CLIENT_SECRET: 'very secret' }

test('browsers log in at a provider by a client id and its secret', () => {
  const config = load({ ...client, OIDC_SCOPES: 'openid, email groups' })
  expect(config.oidcScopes).toEqual(['openid', 'email', 'groups'])
  expect(JSON.stringify(config)).not.toContain('very secret')
  const local = { ...client, OIDC_ISSUER: 'http://127.0.0.1:8080/realms/a' }
  expect(load(local).oidcIssuer).toBe(local.OIDC_ISSUER)
})

test.each([
  [{ AUTH: 'password' }, 'AUTH=password: password: must be none, keys, oidc'],
  [{ AUTH: 'none,keys' }, 'AUTH=none,keys: none goes with no other method'],
  [{ AUTH: 'oidc' }, 'OIDC_ISSUER: is required by AUTH=oidc'],
  [{ ...provider, OIDC_SCOPES: 'profile' }, 'OIDC_SCOPES=profile: must have openid'],
  [{ ...provider, OIDC_CLIENT_ID: 'host' }, 'one of them is required by OIDC_CLIENT_ID'],
  [{ ...client, OIDC_CLIENT_SECRET_FILE: '/a' }, 'only one of them is required'],
  [{ ...client, OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID: is required by the client secret'],
  [{ ...client, AUTH: 'local' }, 'AUTH=local: must have oidc, for OIDC_CLIENT_ID'],
  [{ ...client, OIDC_ISSUER: 'http://idp.example' }, 'must be https with OIDC_CLIENT_ID'],
  [{ PUBLIC_URL: 'https://host.example/path' }, 'PUBLIC_URL'],
])('%j is refused', (env, message) => {
  expect(() => load(env)).toThrow(message)
})

test('allowed origins are a list', () => {
  const { allowedOrigins } = load({
    ALLOWED_ORIGINS: 'https://chat.example.com, http://intranet:8080,',
  })
  expect(allowedOrigins).toEqual(['https://chat.example.com', 'http://intranet:8080'])
})

test.each([
  '*',
  'null',
  'chat.example.com',
  'https://chat.example.com/',
  'https://chat.example.com/path',
  'https://Chat.example.com',
  'https://chat.example.com:443',
])('ALLOWED_ORIGINS=%s is refused because it can never match', (origin) => {
  expect(() => load({ ALLOWED_ORIGINS: origin })).toThrow(`${origin} must be scheme://host`)
})

test('all faults are named at once', () => {
  const load3 = (): unknown => load({ PORT: 'http', ALLOWED_ORIGINS: '*,null' })
  expect(load3).toThrow(/PORT=.*\n.*ALLOWED_ORIGINS=.*\*, null must be/)
})
