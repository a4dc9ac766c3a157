import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Counter, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { canSharePort } from './can-share-port.ts'
import type { OperationsAddress, OperationsDeps } from './operations.ts'
import { listenOperations } from './operations.ts'
import { VERSION } from './operations.ts'

const operations = (more: Partial<OperationsDeps> = {}, address?: OperationsAddress) =>
  listenOperations(
    {
      service: 'test',
      metrics: new Registry(),
      ready: () => Promise.resolve(),
      ...more,
    },
    address,
  )

const statusOf = async (url: string, headers: Record<string, string>): Promise<unknown> => {
  const sent = request(url, { headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('the health endpoint identifies the service and includes its details', async () => {
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

test('the readiness endpoint reports the reason when the service is not ready', async () => {
  let isAway = false
  await using server = await operations({
    ready: async () => {
      if (isAway) throw new Error('nats-server does not answer')
    },
  })
  const readiness = async () => {
    const response = await fetch(`${server.url}/ready`)
    return [response.status, await response.json()]
  }
  expect(await readiness()).toEqual([200, { status: 'ready' }])
  isAway = true
  const notReady = { status: 'not ready', reason: 'nats-server does not answer' }
  expect(await readiness()).toEqual([503, notReady])
  // The health endpoint still answers.
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})

test('what is wrong with stored data is in both, and the service is ready for all else', async () => {
  let warnings: string[] = []
  await using server = await operations({ storageWarnings: async () => warnings })
  const answers = async () => [
    await (await fetch(`${server.url}/health`)).json(),
    await (await fetch(`${server.url}/ready`)).json(),
  ]
  expect(await answers()).toMatchObject([{ status: 'healthy' }, { status: 'ready' }])
  warnings = ['the disk is nearly full', '2 sessions have lost entries']
  expect(await answers()).toMatchObject([
    { ok: true, status: 'degraded', storage: warnings },
    { status: 'ready', storage: warnings },
  ])
})

test('the metrics endpoint has the metrics of the registry in the format of Prometheus', async () => {
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
    expect(await statusOf(`${server.url}${path}`, headers)).toBe(status)
  }
})

test.each([
  [{ host: '10.1.2.3:9464' }, 200],
  [{ host: 'gateway:9464' }, 200],
  [{ host: 'gateway:9464', origin: 'https://evil.example' }, 403],
  [{ host: 'evil.example', 'sec-fetch-site': 'same-origin' }, 403],
  [{ host: 'gateway:9464', 'sec-fetch-site': 'none' }, 200],
])('beyond loopback, a request with the headers %j is answered by %i', async (headers, status) => {
  await using server = await operations({}, { host: '0.0.0.0', port: 0, isShared: false })
  expect(await statusOf(`${server.url}/ready`, headers)).toBe(status)
})

test('an operations server whose port is in use names the settings', async () => {
  await using first = await operations()
  const port = Number(new URL(first.url).port)
  const second = operations({}, { host: '127.0.0.1', port, isShared: false })
  await expect(second).rejects.toThrow(`OPS_HOST=127.0.0.1, OPS_PORT=${port}: listen EADDRINUSE`)
})

test.runIf(canSharePort)('a successor listens on the port of its predecessor', async () => {
  const shared = (port: number) => operations({}, { host: '127.0.0.1', port, isShared: true })
  await using first = await shared(0)
  await using second = await shared(Number(new URL(first.url).port))
  expect(second.url).toBe(first.url)
})

test('the operations endpoints listen on the loopback interface only, by default', async () => {
  await using server = await operations()
  expect(new URL(server.url).hostname).toBe('127.0.0.1')
})
