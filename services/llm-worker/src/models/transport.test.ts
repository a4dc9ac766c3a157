import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { providerFetch } from './transport.ts'

test('a request with half a character is sent without it, and everything else as it is', async () => {
  const server = createServer((request, response) => void request.pipe(response))
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = async (body: string) => (await providerFetch(url, { method: 'POST', body })).text()
  const messages = [{ content: 'cut \ud83d', args: '{"a":"\\ud83d"}' }, { content: '😀 ä \u0000' }]
  expect(JSON.parse(await send(JSON.stringify({ messages })))).toEqual({
    messages: [{ content: 'cut \ufffd', args: '{"a":"\\ud83d"}' }, { content: '😀 ä \u0000' }],
  })
})

test('a line without an end is cut', async () => {
  const closed = Promise.withResolvers<void>()
  const server = createServer((_, response) => {
    const pour = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1024 * 1024)));
    }
    response.on('drain', pour).on('close', () => closed.resolve())
    pour()
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { body } = await providerFetch(url)
  const reading = (async () => {
    let bytes = 0
    for await (const chunk of body ?? []) bytes += chunk.length
    return bytes
  })()
  await expect(reading).rejects.toThrow('a line of more than 33554432 bytes')
  await closed.promise
})

test('a request goes through the dispatcher of the process, without its time limits', async () => {
  const before = getGlobalDispatcher()
  onTestFinished(() => setGlobalDispatcher(before))
  const limits: unknown[] = []
  const agent = new Agent().compose((dispatch) => (options, handler) => {
    limits.push([options.headersTimeout, options.bodyTimeout])
    return dispatch(options, handler)
  })
  setGlobalDispatcher(agent)
  await expect(providerFetch('http://a.invalid')).rejects.toThrow('fetch failed')
  expect(limits).toEqual([[0, 0]])
})
