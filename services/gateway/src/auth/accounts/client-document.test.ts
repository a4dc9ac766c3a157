import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ClientDocuments } from './client-document.ts'

const documents = new ClientDocuments({
  internalHosts: ['intranet.example'],
  proxyFor: () => undefined,
  currentAddress: () => undefined,
})
const fetchClientDocument: typeof fetch = (url, init) => documents.fetch(url, init)

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
    await expect(sent).rejects.toThrow('by GET alone')
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

describe('the document of a client beyond a proxy', () => {
  const fetchThrough = async (internalHosts: readonly string[], url: string) => {
    const asked: (string | undefined)[] = []
    const proxy = createServer().on('connect', (request, socket) => {
      asked.push(request.url)
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
    await using listening = await listen(proxy)
    const proxyFor = (): URL => new URL(`http://127.0.0.1:${listening.port}`)
    const some = new ClientDocuments({ internalHosts, proxyFor, currentAddress: () => undefined })
    const failure = await some.fetch(url).catch((error: unknown) => String(error))
    return { asked, failure }
  }

  test('is never asked of the proxy when its address is no public one', async () => {
    for (const host of ['localhost', '127.0.0.1', '10.1.2.3', '[::1]']) {
      const { asked, failure } = await fetchThrough([], `https://${host}/client.json`)
      expect([host, asked]).toEqual([host, []])
      expect(failure).toContain('is no public address')
    }
  })

  test('is asked by the address that was checked, or by the name that is allowed', async () => {
    const { asked, failure } = await fetchThrough([], 'https://93.184.215.14/client.json')
    expect(asked).toEqual(['93.184.215.14:443'])
    expect(failure).toContain('refused a connection to 93.184.215.14:443: 403 Forbidden')
    const named = await fetchThrough(['intranet.example'], 'https://intranet.example:8443/a')
    expect(named.asked).toEqual(['intranet.example:8443'])
  })
})

describe('documents of clients', () => {
  test('are fetched a few at a time for one address, and so many in all', async () => {
    await using silent = await listen(createServer(() => undefined))
    let address = 'a'
    const some = new ClientDocuments({
      internalHosts: ['localhost'],
      proxyFor: () => undefined,
      currentAddress: () => address,
    })
    const begin = (count: number) =>
      Array.from({ length: count }, () => some.fetch(`https://localhost:${silent.port}/`))
    const running = begin(8)
    expect(() => some.checkRoom()).toThrow(
      expect.objectContaining({
        error_description: expect.stringMatching(/^8 .* for one address/),
      }),
    )
    for (address of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) running.push(...begin(8))
    address = 'i'
    expect(() => some.checkRoom()).toThrow(
      expect.objectContaining({ error_description: expect.stringMatching(/^64 /) }),
    )
    silent.cut()
    const ends = await Promise.allSettled(running)
    expect(ends.map(({ status }) => status)).toEqual(ends.map(() => 'rejected'))
    some.checkRoom()
  })
})

/** A server that accepts connections and never answers, until they are cut. */
async function listen(server: Server) {
  const sockets = new Set<Socket>()
  let isCut = false
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    if (isCut) socket.destroy()
    else sockets.add(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}
