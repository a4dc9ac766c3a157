import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { clientAddress } from './client-address.ts'

const request = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage // clientAddress reads only these two

test.each([
  ['the peer where no proxy is trusted', [], '10.0.0.1', '9.9.9.9', '10.0.0.1'],
  ['the client of a trusted proxy', ['10.0.0.0/8'], '10.0.0.1', '9.9.9.9', '9.9.9.9'],
  ['not what a client says of itself', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 9.9.9.9', '9.9.9.9'],
  ['the peer where the proxy is not trusted', ['10.0.0.0/8'], '11.0.0.1', '9.9.9.9', '11.0.0.1'],
  ['its network for IPv6', [], '2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2::/64'],
  ['its network for short IPv6', [], '2001:db8::1', undefined, '2001:db8:0:0::/64'],
  ['itself without the port', ['10.0.0.0/8'], '10.0.0.1', '9.9.9.9:80', '9.9.9.9'],
  [
    'its network without the port',
    ['10.0.0.0/8'],
    '10.0.0.1',
    '[2001:db8::1]:80',
    '2001:db8:0:0::/64',
  ],
  ['one for all texts of a proxy', ['10.0.0.0/8'], '10.0.0.1', 'random', 'unknown of 10.0.0.1'],
  ['one for all bad IPv6', ['10.0.0.0/8'], '10.0.0.1', '2001:db8:::1', 'unknown of 10.0.0.1'],
  ['IPv4 within IPv6', [], '::ffff:9.9.9.9', undefined, '9.9.9.9'],
  ['IPv4 within long IPv6', ['10.0.0.0/8'], '10.0.0.1', '0:0:0:0:0:FFFF:0909:909', '9.9.9.9'],
  ['one network for all spellings', [], '2001:0DB8:0:0000::00:9', undefined, '2001:db8:0:0::/64'],
  ['its network without the zone', [], 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
])('the address of a client is %s', (_, trusted, peer, forwarded, expected) => {
  expect(clientAddress(trusted)(request(peer, forwarded))).toBe(expected)
})
