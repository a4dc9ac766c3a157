import { loadConfig } from '@mcp-host/service'
import { expect, test } from 'vitest'
import { gatewaySettings } from './config.ts'

function load(env: Record<string, string>): ReturnType<typeof loadConfig<typeof gatewaySettings>> {
  return loadConfig(gatewaySettings, env)
}

test('without settings it listens on loopback', () => {
  expect(load({})).toEqual({
    port: 3000,
    host: '127.0.0.1',
    allowedOrigins: [],
    bundlesConfig: 'bundles.json',
    heartbeatMs: 30_000,
    mcpStreamMs: 0,
    toolApproval: [],
    approvalTimeoutMs: 3_600_000,
  })
})

test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('HOST=%s is loopback', (host) => {
  expect(load({ HOST: host }).host).toBe(host)
})

test.each(['0.0.0.0', '::', '192.168.0.7', 'example.com', 'localhost.example.com'])(
  'HOST=%s is refused as there is no authentication',
  (host) => {
    expect(() => load({ HOST: host })).toThrow(`HOST=${host}: must be a loopback address`)
  },
)

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
])('ALLOWED_ORIGINS=%s would never match and is refused', (origin) => {
  expect(() => load({ ALLOWED_ORIGINS: origin })).toThrow(`${origin} must be scheme://host`)
})

test('all faults are named at once', () => {
  const load3 = (): unknown => load({ HOST: '0.0.0.0', ALLOWED_ORIGINS: '*,null' })
  expect(load3).toThrow(/HOST=.*\n.*ALLOWED_ORIGINS=.*\*, null must be/)
})
