// A provider that repeats its key in all answers: the key must not leave the worker.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { ChatSocket, eventually, startStack } from '@mcp-host/testkit'
import { expect, test } from 'vitest'

const KEY = 'AIza-a-key-that-nobody-may-see'
const SERVICES = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const

/** Records all messages of the broker. */
async function tap(url: string): Promise<Disposable & { received(): string }> {
  const { hostname, port, username } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
    if (text.startsWith('PING')) socket.write('PONG\r\n')
  })
  const options = JSON.stringify({ verbose: false, auth_token: username })
  socket.write(`CONNECT ${options}\r\nSUB > 1\r\nPING\r\n`)
  await eventually(() => received.includes('PONG'))
  return { received: () => received, [Symbol.dispose]: () => socket.destroy() }
}

test(
  'the key of a provider is not in logs, on the bus, in metrics or sent to clients',
  { timeout: 60_000 },
  async () => {
    const sent: unknown[] = []
    /** Requests for the list of models. */
    const listings: unknown[] = []
    const provider = createServer((request, response) => {
      const key = request.headers['x-goog-api-key']
      const isListing = request.method === 'GET'
      if (isListing) listings.push(key)
      else sent.push(key)
      const message = `API key ${String(key)} is not valid`
      const [status, body] =
        isListing || sent.length === 1
          ? [401, { error: { code: 401, message, status: 'UNAUTHENTICATED' } }]
          : [500, `<html>${JSON.stringify(request.headers)}</html>`]
      response.writeHead(status, { 'content-type': 'application/json', 'x-echo': key })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(provider, 'listening')
    const { port } = provider.address() as AddressInfo
    await using stack = await startStack({
      env: {
        LOG_LEVEL: 'debug',
        LLM_RETRIES: '0',
        GEMINI_API_KEY: KEY,
        GEMINI_BASE_URL: `http://127.0.0.1:${port}/v1beta`,
      },
    })
    using bus = await tap(stack.broker.url)
    using chat = await ChatSocket.open(stack)
    chat.say('hello')
    chat.say('hello again')
    await chat.turnsDone(2)
    expect(sent.length).toBeGreaterThan(1)
    expect(new Set([...sent, ...listings])).toEqual(new Set([KEY]))
    expect(listings).not.toEqual([])
    expect(chat.text).toContain('gemini answered 401: it does not accept the API key')
    expect(chat.text).toContain('gemini answered 500')

    const seen = new Map<string, string>([
      ['frames', JSON.stringify(chat.frames)],
      ['bus', bus.received()],
    ])
    for (const name of SERVICES) {
      seen.set(`log of ${name}`, await stack.log(name))
      for (const path of ['metrics', 'health']) {
        const response = await fetch(new URL(`/${path}`, stack.urlOf(name)))
        seen.set(`${path} of ${name}`, await response.text())
      }
    }
    // None of the texts is empty.
    expect(Array.from(seen.values(), (text) => text.length > 50)).not.toContain(false)
    expect(seen.get('log of llm-worker')).toContain('[secret]')
    expect(seen.get('bus')).toContain('gemini answered 401')
    const leaks = Array.from(seen).filter(([, text]) => text.includes(KEY))
    expect(leaks.map(([name]) => name)).toEqual([])
    provider.close()
  },
)
