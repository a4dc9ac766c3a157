import type { LookupAddress } from 'node:dns'
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { textOf } from '@mcp-host/mcp-testkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { openSite, openWeb } from './__fixtures__/open-web.ts'

/** The addresses of names; a list of lists is one for each lookup. */
const NAMES = new Map([
  ['localhost.', ['127.0.0.1']],
  ['localhost', ['127.0.0.1']],
  ['app.localhost', ['::1']],
  ['intranet.example', ['10.1.2.3']],
  ['mapped.example', ['::ffff:192.168.0.1']],
  ['mixed.example', ['93.184.215.14', '127.0.0.1']],
  ['metadata.google.internal', ['169.254.169.254']],
  ['nat64.example', ['64:ff9b::7f00:1']],
  ['v6.example', ['fd00::1']],
])

/** A public address that nobody has. */
const UNASSIGNED = '4000::1'
let changing: string[] = []

beforeEach(() => {
  changing = [UNASSIGNED, '127.0.0.1']
  const findAll = async (name: string): Promise<LookupAddress[]> => {
    const addresses = name === 'changing.example' ? [changing.shift()!] : (NAMES.get(name) ?? [])
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  // The code calls the overload that returns all addresses.
  vi.spyOn(dns, 'lookup').mockImplementation(findAll as unknown as typeof dns.lookup)
  syncBuiltinESMExports()
})

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

const REFUSED = [
  'https://127.0.0.1/',
  'https://localhost/',
  'https://localhost./',
  'https://LOCALHOST/',
  'https://127.1/',
  'https://127.0.0.1./',
  'https://127.255.255.254/',
  'https://0.0.0.0/',
  'https://0/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://0x7f.0.0.1/',
  'https://0x7f000001/',
  'https://017700000001/',
  'https://127.0.0.1:6379/',
  'https://①②⑦.⓪.⓪.①/',
  'https://%31%32%37.0.0.1/',
  'https:\\\\127.0.0.1/',
  'https:127.0.0.1',
  'https://[::1]/',
  'https://[::]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[ff02::1]/',
  'https://[2001:db8::1]/',
  'https://[100::1]/',
  'https://[fec0::1]/',
  'https://[2001::1]/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://100.100.100.200/',
  'https://192.0.0.192/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://240.0.0.1/',
  'https://100.64.0.1/',
  'https://10.0.0.1:8443/',
  'https://app.localhost/',
  'https://intranet.example/',
  'https://mapped.example/',
  'https://mixed.example/',
  'https://metadata.google.internal/',
  'https://nat64.example/',
  'https://v6.example/',
  'http://127.0.0.1/',
  'http://example.com/',
  'http://localhost:6379/',
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:70/',
  'data:text/html,x',
  'javascript:alert(1)',
  'ws://127.0.0.1/',
  'wss://127.0.0.1/',
  'blob:https://127.0.0.1/x',
  'https://user:pass@example.com/',
  'https://user@example.com/',
  '//127.0.0.1/',
  'not a URL',
  '',
]

const REFUSAL =
  /no public address|only https is fetched|are not fetched|is no URL|only those with https/

describe('addresses outside of the public web', () => {
  test.each(REFUSED)('the address %s is refused', async (url) => {
    // Another port of this machine is allowed, which must not open the rest of it.
    const client = await openWeb({ allowedOrigins: ['https://localhost:1', 'http://127.0.0.1:1'] })
    const result = await client.callTool({ name: 'web_fetch', arguments: { url } })
    expect(textOf(result)).toMatch(REFUSAL)
    expect(textOf(result)).not.toContain('pass@')
    expect(result.isError).toBe(true)
  })

  test('an address with a password is refused even at an allowed origin', async () => {
    const { origin, requests } = await openSite((_, response) => response.end('page'))
    const client = await openWeb({ allowedOrigins: [origin] })
    const url = origin.replace('//', '//user:pass@')
    const result = await client.callTool({ name: 'web_fetch', arguments: { url } })
    expect(textOf(result)).toBe('addresses with a user or a password are not fetched')
    expect(requests).toEqual([])
  })

  test('an address without TLS is refused with a hint', async () => {
    const client = await openWeb({})
    const call = { name: 'web_fetch', arguments: { url: 'http://example.com/' } }
    expect(textOf(await client.callTool(call))).toContain('try the address with https://')
  })

  test('no address of the local machine is reached, neither by name nor by a redirect', async () => {
    const target = await openSite((_, response) => response.end('secret'))
    const { port } = new URL(target.origin)
    const spellings = ['127.0.0.1', 'localhost.', '127.1', '2130706433', '[::1]', '[::ffff:7f00:1]']
    const addresses = [...spellings, 'mixed.example'].flatMap((host) =>
      ['http', 'https'].map((scheme) => `${scheme}://${host}:${port}/`),
    )
    const start = await openSite(({ url = '' }, response) => {
      response.writeHead(302, { location: addresses[Number(url.slice(1))] }).end()
    })
    const client = await openWeb({ allowedOrigins: [start.origin] })
    for (const [index, address] of addresses.entries()) {
      for (const url of [address, `${start.origin}/${index}`]) {
        const result = await client.callTool({ name: 'web_fetch', arguments: { url } })
        expect(textOf(result), url).toMatch(REFUSAL)
      }
    }
    expect(start.requests).toHaveLength(addresses.length)
    expect(target.requests).toEqual([])
  })

  test.each(REFUSED.filter((url) => URL.canParse(url)))(
    'a redirect of an allowed origin to %s is refused',
    async (location) => {
      const { origin } = await openSite((_, response) => {
        // Other characters than those of Latin-1 cannot be in a header.
        response.writeHead(307, { location: encodeURI(decodeURI(location)) }).end()
      })
      const client = await openWeb({ allowedOrigins: [origin] })
      const result = await client.callTool({ name: 'web_fetch', arguments: { url: origin } })
      expect(textOf(result)).toMatch(REFUSAL)
    },
  )

  test('a name is looked up once for a connection, so that it cannot change after the check', async () => {
    const target = await openSite((_, response) => response.end('secret'))
    const client = await openWeb({ limits: { fetchMs: 200 } })
    const url = `https://changing.example:${new URL(target.origin).port}/`
    const first = await client.callTool({ name: 'web_fetch', arguments: { url } })
    // It goes to the public address that was checked, which does not answer here.
    expect(textOf(first)).not.toMatch(REFUSAL)
    expect(changing).toEqual(['127.0.0.1'])
    const second = await client.callTool({ name: 'web_fetch', arguments: { url } })
    expect(textOf(second)).toMatch(REFUSAL)
    expect(target.requests).toEqual([])
  })
})
