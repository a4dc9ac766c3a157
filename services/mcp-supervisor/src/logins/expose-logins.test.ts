import { ServerName } from '@mcp-host/contracts'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { exposeLogins } from './expose-logins.ts'
import type { KnownLogin } from './login-vault.ts'

const HOUR_MS = 3_600_000

function loginAt(name: string, about: Partial<KnownLogin>): KnownLogin {
  const server = ServerName.parse(name)
  const place = { server, url: 'https://notes.example', principal: 'user:ann', label: 'default' }
  return {
    ...place,
    id: 'a',
    issuer: 'https://login.example',
    connectedAt: 0,
    isUsable: true,
    ...about,
  }
}

test('logins are counted, with the age of the oldest tokens that can be used', async () => {
  const registry = new Registry()
  const now = Date.now()
  exposeLogins(registry, () => [
    loginAt('notes', { connectedAt: now - 9 * HOUR_MS, renewedAt: now - HOUR_MS }),
    loginAt('notes', { connectedAt: now - 2 * HOUR_MS }),
    loginAt('notes', { connectedAt: now - 5 * HOUR_MS, isUsable: false }),
    loginAt('mail', { isUsable: false }),
  ])
  const text = await registry.metrics()
  expect(text).toContain('mcp_host_server_logins{server="notes",state="usable"} 2')
  expect(text).toContain('mcp_host_server_logins{server="mail",state="needed"} 1')
  expect(text).toMatch(/login_age_seconds\{server="notes"\} 72\d\d/)
  expect(text).not.toContain('login_age_seconds{server="mail"}')
})
