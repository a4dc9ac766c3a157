import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'

import { guardedFetch } from './guarded-fetch.ts'

const LIMITS = { proxyFor: () => undefined, timeoutMs: 2_000, maxBytes: 1_000 }

/** A server that answers every connection with some bytes. */
async function answering(bytes: string): Promise<string> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', () => socket.end(bytes))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.on('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([
  ['999', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n', 'the status 999'],
  ['101', 'HTTP/1.1 101 Up\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'another protocol'],
])('an answer with the status %s is an error', async (_, bytes, reason) => {
  const origin = await answering(bytes)
  const fetched = guardedFetch({ ...LIMITS, trusted: [origin] })(origin)
  await expect(fetched).rejects.toThrow(reason)
})

test('an answer without a body may say that it has one', async () => {
  const origin = await answering('HTTP/1.1 205 Reset\r\ncontent-length: 1\r\n\r\nx')
  const { status } = await guardedFetch({ ...LIMITS, trusted: [origin] })(origin)
  expect(status).toBe(205)
})

test('an answer that is too large, and one that never ends, are errors', async () => {
  const large = await answering(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(2_000)}`)
  await expect(guardedFetch({ ...LIMITS, trusted: [large] })(large)).rejects.toThrow('too large')
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.on('listening', resolve))
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const origin = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const hurried = guardedFetch({ ...LIMITS, timeoutMs: 100, trusted: [origin] })
  await expect(hurried(origin)).rejects.toThrow()
})

test.each([
  ['another port of the same name', 'https://notes.example', 'http://notes.example:8080/'],
  ['the same name without TLS', 'https://notes.example', 'http://notes.example/'],
  ['another name of this machine', 'http://127.0.0.1:1', 'http://localhost:1/'],
  ['an internal address', 'https://notes.example', 'https://10.0.0.1/'],
  ['another port of an internal address', 'https://10.0.0.1', 'https://10.0.0.1:8443/'],
])('no trusted origin opens %s', async (_, trusted, url) => {
  const fetched = guardedFetch({ ...LIMITS, trusted: [trusted] })(url)
  await expect(fetched).rejects.toThrow(/only https|public address/)
})

test('a trusted origin of this machine means all of its ports', async () => {
  const origin = await answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  const fetched = guardedFetch({ ...LIMITS, trusted: ['http://127.0.0.1:1'] })(origin)
  expect(await (await fetched).text()).toBe('ok')
})
