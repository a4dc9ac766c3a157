import { hostname, networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { proxiesOf } from './proxy-for.ts'

const http = new URL('http://plain.proxy:3128')
const https = new URL('http://secure.proxy:3128')

test('each scheme has its proxy', () => {
  const proxyFor = proxiesOf({ http, https, except: [] })
  expect(proxyFor(new URL('http://a.example'))).toBe(http)
  expect(proxyFor(new URL('ws://a.example'))).toBe(http)
  expect(proxyFor(new URL('https://a.example'))).toBe(https)
  expect(proxyFor(new URL('wss://a.example'))).toBe(https)
  const plainOnly = proxiesOf({ http, https: undefined, except: [] })
  expect(plainOnly(new URL('https://a.example'))).toBeUndefined()
})

test.each([
  ['*', 'http://a.example', true],
  ['example.com', 'http://example.com', true],
  ['example.com', 'https://EXAMPLE.com./path', true],
  ['example.com', 'wss://deep.api.example.com', true],
  ['.example.com', 'http://example.com', true],
  ['.example.com', 'http://api.example.com', true],
  ['*.example.com', 'http://api.example.com', true],
  ['EXAMPLE.COM', 'http://example.com', true],
  ['example.com', 'http://notexample.com', false],
  ['example.com', 'http://example.com.evil.test', false],
  ['api.example.com', 'http://example.com', false],
  ['com', 'http://example.com', true],
  ['example.com:8080', 'http://example.com:8080', true],
  ['example.com:8080', 'http://example.com', false],
  ['example.com:443', 'https://example.com', true],
  ['10.1.2.3', 'http://10.1.2.3:8000', true],
  ['10.1.2.3', 'http://10.1.2.30', false],
  ['2.3', 'http://10.1.2.3', false],
  ['10.0.0.0/8', 'http://10.9.8.7', true],
  ['10.0.0.0/8', 'http://11.9.8.7', false],
  ['10.0.0.0/99', 'http://10.0.0.0', false],
  ['10.0.0.0/8', 'http://10.example.com', false],
  ['fd00::/8', 'http://[fd12::1]:8000', true],
  ['[fd12::1]', 'http://[fd12::1]', true],
  ['[fd12::1]:8000', 'http://[fd12::1]:8000', true],
  ['[fd12::1]:8000', 'http://[fd12::1]', false],
  ['fd12::1', 'http://[fd12:0:0::1]', true],
])('NO_PROXY=%s and %s: without a proxy is %s', (entry, url, isDirect) => {
  const proxyFor = proxiesOf({ http, https, except: ['other.test', entry] })
  expect(proxyFor(new URL(url)) === undefined).toBe(isDirect)
})

test('requests to this machine have no proxy', () => {
  const proxyFor = proxiesOf({ http, https, except: [] })
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const hosts = [
    'localhost',
    'a.localhost',
    'host.docker.internal',
    'host.containers.internal',
    '127.0.0.1',
    '127.8.8.8',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    hostname(),
    ...own.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  ]
  for (const host of hosts)
    expect([host, proxyFor(new URL(`http://${host}/`))]).toEqual([host, undefined])
  expect(proxyFor(new URL('http://localhost.example'))).toBe(http)
})
