import { expect, test } from 'vitest'
import { domainNames, readDomains, sandboxUrl } from './app-domains.ts'

const OWN = 'chat.example.org'
const read = (csp: unknown) => readDomains({ csp }, OWN)

test('domains are read, in small letters and each once', () => {
  const csp = {
    connectDomains: [
      'https://API.example.com',
      'wss://live.example.com',
      'https://api.example.com/',
    ],
    resourceDomains: ['https://*.cdn.example.com', 'https://fonts.example.com:8443'],
  }
  expect(read(csp)).toEqual({
    connect: ['https://api.example.com', 'wss://live.example.com'],
    resource: ['https://*.cdn.example.com', 'https://fonts.example.com:8443'],
  })
})

test.each([
  '*',
  'https:',
  'https://*',
  'https://*.com',
  'https://example',
  'https://localhost:3000',
  'https://127.0.0.1',
  'https://[::1]',
  'http://example.com',
  'data:',
  "'self'",
  "'unsafe-eval'",
  'https://example.com/path',
  'https://example.com https://other.com',
  'https://example.com; script-src *',
  'https://user@example.com',
  `https://${OWN}`,
  'https://CHAT.example.org',
  'https://*.example.org',
  'https://*.org',
  7,
  null,
])('no app may reach %j', (origin) => {
  const none = { connect: [], resource: [] }
  expect(read({ connectDomains: [origin], resourceDomains: [origin] })).toEqual(none)
})

test('sockets carry data and no scripts', () => {
  expect(read({ resourceDomains: ['wss://example.com'] }).resource).toEqual([])
})

test.each([[undefined], [null], ['https://example.com'], [{ connectDomains: 'x' }]])(
  '%j asks for nothing',
  (csp) => {
    expect(read(csp)).toEqual({ connect: [], resource: [] })
    expect(readDomains(csp, OWN)).toEqual({ connect: [], resource: [] })
  },
)

test('20 domains of a kind are enough', () => {
  const connectDomains = Array.from({ length: 50 }, (_, index) => `https://a${index}.example.com`)
  expect(read({ connectDomains }).connect).toHaveLength(20)
})

test('a user reads names, and the sandbox gets origins', () => {
  const domains = read({
    connectDomains: ['https://api.example.com', 'wss://api.example.com'],
    resourceDomains: ['https://*.cdn.example.com'],
  })
  expect(domainNames(domains)).toEqual(['api.example.com', '*.cdn.example.com'])
  expect(sandboxUrl(domains)).toBe(
    '/app-sandbox?connect=https%3A%2F%2Fapi.example.com&connect=wss%3A%2F%2Fapi.example.com&resource=https%3A%2F%2F*.cdn.example.com',
  )
  expect(sandboxUrl({ connect: [], resource: [] })).toBe('/app-sandbox')
})
