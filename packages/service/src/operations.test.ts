import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Counter, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { OperationsDeps } from './operations.ts'
import { listenOperations } from './operations.ts'
import { VERSION } from 'mcp-host'

const operations = (more: Partial<OperationsDeps> = {}) =>
  listenOperations({
    service: 'test',
    metrics: new Registry(),
    ready: () => Promise.resolve(),
    ...more,
  })

test('health tells who lives, and what the service adds', async () => {
  await using server = await operations({ details: () => ({ sockets: 3 }) })
  const response = await fetch(`${server.url}/health`)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    ok: true,
    status: 'healthy',
    version: VERSION,
    service: 'test',
    pid: process.pid,
    uptimeSeconds: expect.any(Number),
    sockets: 3,
  })
})

test('readiness follows what is asked for it, and says why not', async () => {
  let isAway = false
  await using server = await operations({
    ready: async () => {
      if (isAway) throw new Error('nats-server does not answer')
    },
  })
  const ask = async () => {
    const response = await fetch(`${server.url}/ready`)
    return [response.status, await response.json()]
  }
  expect(await ask()).toEqual([200, { status: 'ready' }])
  isAway = true
  const notReady = { status: 'not ready', reason: 'nats-server does not answer' }
  expect(await ask()).toEqual([503, notReady])
  // It lives all the same.
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})

test('metrics are those of the registry, in the format of Prometheus', async () => {
  const metrics = new Registry()
  new Counter({ name: 'turns_total', help: 'Turns', registers: [metrics] }).inc(2)
  await using server = await operations({ metrics })
  const response = await fetch(`${server.url}/metrics`)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await response.text()).toContain('turns_total 2')
})

test.each([
  [{ host: 'evil.example' }, 403],
  [{ host: 'evil.com/.localhost' }, 403],
  [{ host: '127.0.0.1.evil.example:80' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{ origin: '' }, 403],
  [{ host: 'LOCALHOST:80', origin: 'http://localhost:3000' }, 200],
  [{ connection: 'upgrade', upgrade: 'websocket' }, 200],
])('a request with the headers %j is answered by %i', async (headers, status) => {
  await using server = await operations()
  for (const path of ['/health', '/ready', '/metrics']) {
    const asked = request(`${server.url}${path}`, { headers }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).toBe(status)
  }
})

test('nobody outside this machine is listened to', async () => {
  await using server = await operations()
  expect(new URL(server.url).hostname).toBe('127.0.0.1')
})
