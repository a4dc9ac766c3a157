import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../tools/host/listen.ts'
import { startBalancer } from './balancer.ts'

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${await listen(server)}`
}

test('the balancer forwards each request with its body to the next server', async () => {
  const echo =
    (name: string): RequestListener =>
    (incoming, response) => {
      response.setHeader('x-server', name)
      incoming.pipe(response)
    }
  await using balancer = await startBalancer([await serve(echo('one')), await serve(echo('two'))])
  const seen: string[] = []
  for (let index = 0; index < 4; index++) {
    const response = await fetch(`${balancer.url}/mcp`, { method: 'POST', body: String(index) })
    seen.push(`${response.headers.get('x-server')} ${await response.text()}`)
  }
  expect(seen).toEqual(['one 0', 'two 1', 'one 2', 'two 3'])
})

test('servers see the Host header of the client', async () => {
  const url = await serve((incoming, response) => response.end(incoming.headers.host))
  await using balancer = await startBalancer([url])
  const asked = request(balancer.url, { headers: { host: 'evil.example.com' } }).end()
  // The only argument of the event is the response.
  const [response] = (await once(asked, 'response')) as [AsyncIterable<Buffer>]
  const body = await Array.fromAsync(response)
  expect(Buffer.concat(body).toString()).toBe('evil.example.com')
})

test('a stream arrives as it is written, and its server learns when the reader leaves', async () => {
  const left = Promise.withResolvers<void>()
  const url = await serve((_, response) => {
    response.on('close', left.resolve)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: first\n\n')
  })
  await using balancer = await startBalancer([url])
  const leave = new AbortController()
  const response = await fetch(balancer.url, { signal: leave.signal })
  const { value } = (await response.body?.getReader().read()) ?? {}
  expect(new TextDecoder().decode(value)).toBe('data: first\n\n')
  leave.abort()
  await left.promise
})

test('requests to a server that does not answer get 502', async () => {
  await using balancer = await startBalancer(['http://127.0.0.1:1'])
  expect((await fetch(balancer.url)).status).toBe(502)
})
