import { expect, test } from 'vitest'
import { originGuard, originHeaders, preflightHeaders } from './origin.ts'

const allowed = ['https://chat.example.com', 'http://intranet:8080']
const here = 'localhost:3000'

test.each([
  'localhost',
  'localhost:3000',
  'app.localhost:3000',
  '127.0.0.1:3000',
  '127.9.9.9',
  '[::1]:3000',
  '[::1]',
  'chat.example.com',
  'intranet:8080',
  'LOCALHOST:3000',
  'localhost.:3000',
  'CHAT.Example.com',
  'chat.example.com:443',
  'chat.example.com.',
])('a request without an origin may use the host name %s', (host) => {
  expect(() => originGuard(allowed)({ host })).not.toThrow()
})

test.each([
  ['another name, as in DNS rebinding', 'evil.example:3000'],
  ['a name that begins like an address', '127.0.0.1.evil.example:3000'],
  ['a name that begins like localhost', 'localhost.evil.example'],
  ['a name that ends like localhost', 'evillocalhost:3000'],
  ['another address', '192.168.1.5:3000'],
  ['an allowed name at another port', 'intranet:8081'],
  ['a subdomain of an allowed name', 'evil.chat.example.com'],
  ['a path that ends like localhost', 'evil.com/.localhost'],
  ['an allowed name at the port of another scheme', 'chat.example.com:80'],
  ['an empty name', ''],
  ['no name', undefined],
])('a Host header with %s is refused', (_, host) => {
  expect(() => originGuard(allowed)(host === undefined ? {} : { host })).toThrow(
    expect.objectContaining({ code: 'denied', field: 'Host' }),
  )
})

test.each([
  'http://localhost:5173',
  'https://localhost',
  'http://127.0.0.1:8000',
  'http://[::1]:3000',
  'https://chat.example.com',
  'http://intranet:8080',
])('pages of %s may connect', (origin) => {
  expect(() => originGuard(allowed)({ host: here, origin })).not.toThrow()
})

test.each([
  ['a foreign site', 'https://evil.example'],
  ['a sandboxed or local file', 'null'],
  ['an allowed site over another scheme', 'http://chat.example.com'],
  ['an allowed site at another port', 'http://intranet:8081'],
  ['a site that begins like an allowed one', 'https://chat.example.com.evil.example'],
  ['a site that begins like loopback', 'http://localhost.evil.example'],
  ['a user name that looks like loopback', 'http://localhost@evil.example'],
  ['a file', 'file://'],
  ['an invalid origin', 'nonsense'],
  ['an empty origin', ''],
])('pages of %s are refused', (_, origin) => {
  expect(() => originGuard(allowed)({ host: here, origin })).toThrow(
    expect.objectContaining({ code: 'denied', field: 'Origin' }),
  )
})

test('a page of an allowed origin may send the headers of MCP and read its session id', () => {
  const headers = {
    origin: 'http://localhost:1',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type, mcp-param-City,x-other',
  }
  const preflight = preflightHeaders('OPTIONS', headers)
  expect(preflight?.['access-control-allow-headers']).toMatch(/Mcp-Session-Id, mcp-param-City$/)
  // Pages that are MCP clients log in, too.
  expect(preflight?.['access-control-allow-headers']).toContain('Authorization, ')
  const exposed = originHeaders(headers)?.['access-control-expose-headers']
  expect(exposed).toContain('Mcp-Session-Id')
  expect(exposed).toContain('WWW-Authenticate')
})

test('a page of a foreign origin is refused although its host name is allowed', () => {
  const headers = { host: 'chat.example.com', origin: 'https://evil.example' }
  expect(() => originGuard(allowed)(headers)).toThrow('pages of https://evil.example')
})
