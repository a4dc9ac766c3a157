import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { openTunnel } from './open-tunnel.ts'

async function startProxy(onConnect: (request: IncomingMessage, socket: Duplex) => void) {
  const proxy = createServer((_, response) => response.end('a web page')).on('connect', onConnect)
  proxy.listen(0, '127.0.0.1')
  onTestFinished(() => void proxy.close())
  await once(proxy, 'listening')
  return new URL(`http://me:p%40ss@127.0.0.1:${(proxy.address() as AddressInfo).port}`)
}

const target = { host: 'far.example', port: 443 }

test('a tunnel leads to the target, with the credential of the proxy', async () => {
  const far = createTcpServer((socket) => socket.end('from afar'))
  far.listen(0, '127.0.0.1')
  onTestFinished(() => void far.close())
  await once(far, 'listening')
  const asked = Promise.withResolvers<IncomingMessage>()
  const proxy = await startProxy((request, socket) => {
    asked.resolve(request)
    socket.write('HTTP/1.1 200 ProtocolClient established\r\n\r\n')
    connect((far.address() as AddressInfo).port, '127.0.0.1').pipe(socket)
  })
  const socket: Socket = await openTunnel(proxy, target)
  expect(await text(socket)).toBe('from afar')
  const { url, headers } = await asked.promise
  expect([url, headers.host]).toEqual(['far.example:443', 'far.example:443'])
  const credential = Buffer.from('me:p@ss').toString('base64')
  expect(headers['proxy-authorization']).toBe(`Basic ${credential}`)
})

test('a refusal names the proxy without its password', async () => {
  const proxy = await startProxy((_, socket) =>
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  )
  const message = `the proxy ${proxy.host} refused a connection to far.example:443: 407 Proxy Authentication Required`
  await expect(openTunnel(proxy, target)).rejects.toThrow(new Error(message))
})

test('a proxy that is not there is named', async () => {
  const proxy = new URL('http://me:secret@127.0.0.1:1')
  const message = 'the proxy 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1'
  await expect(openTunnel(proxy, target)).rejects.toThrow(new Error(message))
})
