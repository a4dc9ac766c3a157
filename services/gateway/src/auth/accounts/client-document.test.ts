import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { clientDocumentFetch, isInternal } from './client-document.ts'

const fetchClientDocument = clientDocumentFetch(['intranet.example'])

describe('the document of a client', () => {
  test.each([
    'http://example.com/client.json',
    'https://127.0.0.1/client.json',
    'https://[::1]/client.json',
    'https://[::ffff:10.0.0.1]/client.json',
    'https://10.1.2.3/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://0x7f000001/client.json',
    'https://localhost/client.json',
  ])('is not fetched from %s', async (url) => {
    await expect(fetchClientDocument(url)).rejects.toThrow(/public address|only https/)
  })

  test('is fetched by GET alone', async () => {
    const sent = fetchClientDocument('https://example.com/', { method: 'POST' })
    await expect(sent).rejects.toThrow('only https')
  })

  test('never reaches a server of this machine', async () => {
    let connections = 0
    const server = createServer().on('connection', () => (connections += 1))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    await expect(fetchClientDocument(`https://localhost:${port}/`)).rejects.toThrow('public')
    expect(connections).toBe(0)
    server.close()
  })
})

test.each([
  ['8.8.8.8', false],
  ['2606:4700::1111', false],
  ['172.15.0.1', false],
  ['172.31.255.255', true],
  ['192.168.1.1', true],
  ['100.64.0.1', true],
  ['fe80::1', true],
  ['fd00::1', true],
  ['::ffff:192.168.0.1', true],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::a00:1', true],
])('that %s is internal is %s', (address, expected) => {
  expect(isInternal(address)).toBe(expected)
})
