import { describe, expect, test } from 'vitest'

import { eventually, HttpServer, SseServer } from '@mcp-host/mcp-testkit'
import { LEGACY } from '@mcp-host/upstream/testing'
import { HostStage } from '../test/host-stage.ts'

const start = async (fields: Record<string, unknown>): Promise<HostStage> => {
  const stage = await HostStage.open()
  await stage.host.initialize({ servers: { it: fields } })
  return stage
}

describe('a server that only speaks HTTP+SSE', () => {
  test.each([400, 404, 405])(
    'a server of HTTP+SSE is reached by its URL alone if it answers Streamable HTTP with %s',
    async (status) => {
      const server = await SseServer.open(status)
      const stage = await start({ url: server.url() })
      expect(stage.find('it')).toMatchObject({ state: 'ready', type: 'sse', era: 'legacy' })
      expect(stage.toolsOf('it').length).toBeGreaterThan(0)
      expect(server.refused).toBeGreaterThan(0)
    },
  )

  test('a server of HTTP+SSE is reached by a URL that ends in /sse, even with the type http', async () => {
    const server = await SseServer.open()
    const stage = await start({ type: 'http', url: server.url('/sse') })
    expect(stage.find('it')).toMatchObject({ state: 'ready', type: 'sse' })
  })

  test('a server of HTTP+SSE is not probed for Streamable HTTP again until its configuration changes', async () => {
    const server = await SseServer.open()
    const stage = await start({ url: server.url() })
    const { refused } = server
    await stage.host.restart('it')
    expect(server).toMatchObject({ refused, opened: 2 })
    server.dropStreams()
    await eventually(() => stage.find('it').state === 'ready' && server.opened === 3)
    expect(server.refused).toBe(refused)

    await stage.host.reload({ servers: { it: { url: server.url(), timeout: 9 } } })
    expect(stage.find('it').type).toBe('sse')
    expect(server.refused).toBe(2 * refused)
  })

  test.each([
    ['its type is http and its URL does not end in /sse', 405, { type: 'http' }],
    ['its status is another', 401, {}],
    ['its configuration allows only the newer protocol', 405, { protocol: 'modern' }],
  ])('a server of HTTP+SSE is not reached if %s', async (_title, status, fields) => {
    const server = await SseServer.open(status)
    const starting = start({ ...fields, url: server.url() })
    await expect(starting).rejects.toMatchObject({ code: 'server-startup' })
    expect(server.opened).toBe(0)
  })
})

test('a server of Streamable HTTP at a URL that ends in /sse is reached by Streamable HTTP', async () => {
  const handlers = { ...LEGACY, 'tools/list': () => ({ tools: [] }) }
  const server = await HttpServer.open(handlers, { type: 'http' })
  const stage = await start({ url: new URL('/sse', server.url).href })
  expect(stage.find('it')).toMatchObject({ state: 'ready', type: 'http' })
})

test('a server that refuses both transports over HTTP fails with both reasons', async () => {
  const refuse: NonNullable<Parameters<typeof HttpServer.open>[0][string]> = (_, { response }) =>
    void response.writeHead(404).end('nothing here')
  const server = await HttpServer.open({ initialize: refuse })
  const starting = start({ url: server.url, protocol: 'legacy' })
  await expect(starting).rejects.toThrow(
    /cannot start: by Streamable HTTP: .*nothing here.*; by HTTP\+SSE: .*405/,
  )
})
