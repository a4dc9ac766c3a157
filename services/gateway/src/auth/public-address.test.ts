import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import { publicAddress } from './public-address.ts'

const at = (address: string, internal: boolean) =>
  ({ family: address.includes(':') ? 'IPv6' : 'IPv4', address, internal }) as NetworkInterfaceInfo
const network = () => ({
  lo: [at('127.0.0.1', true)],
  eth0: [at('fe80::1', false), at('192.168.1.5', false)],
})
const settings = { publicUrl: undefined, host: '127.0.0.1', port: 3000 }

describe('the address of a host', () => {
  test('is the one that is set, and no other', () => {
    const publicUrl = 'https://mcp.example.com'
    expect(publicAddress({ ...settings, publicUrl, host: '0.0.0.0' }, network)).toEqual({
      publicUrl,
      origins: [publicUrl],
    })
  })

  test('on loopback has all names of this machine', () => {
    expect(publicAddress(settings, network)).toEqual({
      publicUrl: 'http://127.0.0.1:3000',
      origins: ['http://127.0.0.1:3000', 'http://localhost:3000', 'http://[::1]:3000'],
    })
  })

  test('on all addresses is the one in the network', () => {
    const { publicUrl, origins } = publicAddress({ ...settings, host: '0.0.0.0' }, network)
    expect(publicUrl).toBe('http://192.168.1.5:3000')
    expect(origins).toContain('http://localhost:3000')
    expect(publicAddress({ ...settings, host: '::' }, () => ({})).publicUrl).toBe(
      'http://127.0.0.1:3000',
    )
  })

  test('in the network has no other name', () => {
    const { origins } = publicAddress({ ...settings, host: '192.168.1.5' }, network)
    expect(origins).toEqual(['http://192.168.1.5:3000'])
  })
})
