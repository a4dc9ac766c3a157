// Servers that ask for a token.
import { expect, test } from 'vitest'

import { eventually, HttpServer, text } from '@mcp-host/mcp-testkit'
import { LEGACY } from '@mcp-host/upstream/testing'
import { HostStage } from '../test/host-stage.ts'
import type { MCPHostOptions, RemoteServerConfig } from './index.ts'

const handlers: Parameters<typeof HttpServer.open>[0] = {
  ...LEGACY,
  'tools/list': () => ({
    tools: ['say', 'leak'].map((name) => ({ name, inputSchema: { type: 'object' } })),
  }),
  'tools/call': ({ name }, { response }) =>
    name === 'say'
      ? text('fine')
      : { ...text(`no way with ${response.req.headers.authorization}`), isError: true },
}

async function openStage(type: 'http' | 'sse', options: Partial<MCPHostOptions> = {}) {
  const server = await HttpServer.open(handlers, { type })
  server.token = 'first-token'
  const stage = await HostStage.open(options)
  const write = (value: string): Promise<string> => stage.workspace.write('token', value)
  const tokenFile = stage.workspace.path('token')
  const config: RemoteServerConfig = {
    type,
    url: server.url,
    headers: {},
    auth: { type: 'bearer', tokenFile },
    protocol: 'legacy',
  }
  return { server, stage, write, tokenFile, servers: { safe: config } }
}

test.for(['http', 'sse'] as const)(
  'a token that %s refuses is read again from its file, and the call goes on',
  async (type) => {
    const { server, stage, write, servers } = await openStage(type)
    await write('first-token\n')
    await stage.host.initialize({ servers })
    expect(server.refused).toBe(0)
    server.token = 'second-token'
    await write('second-token\n')
    expect(await stage.call('safe.say')).toBe('fine')
    expect(server.refused).toBe(1)
    expect(stage.find('safe')).toMatchObject({ state: 'ready', restarts: 0 })
    expect(await stage.call('safe.say')).toBe('fine')
    expect(server.refused).toBe(1)
  },
)

test('a token that stays refused is an error of its call, without the token', async () => {
  const { server, stage, write, servers } = await openStage('http')
  await write('first-token')
  await stage.host.initialize({ servers })
  server.token = 'another-token'
  await write('first-token-again')
  const failure = await stage.call('safe.say').catch((error: unknown) => String(error))
  expect(failure).toContain('401')
  expect(JSON.stringify([failure, stage.logged])).not.toContain('first-token')
  await write('another-token')
  expect(await stage.call('safe.say')).toBe('fine')
})

test('a server that repeats its token in an error does not show it', async () => {
  const { stage, write, servers } = await openStage('http')
  await write('first-token')
  await stage.host.initialize({ servers })
  const failure = await stage.call('safe.leak').catch((error: unknown) => String(error))
  expect(failure).toContain('no way with Bearer [token]')
})

test.for([
  ['that does not exist', undefined, 'does not exist'],
  ['without a token', '\n', 'must have one token and no more'],
  ['with two lines', 'first-token\nother', 'must have one token and no more'],
  ['that is too long', 'x'.repeat(65 * 1024), 'must have one token and no more'],
] as const)('a token file %s is named', async ([, content, reason]) => {
  const { stage, write, tokenFile, servers } = await openStage('http')
  if (content !== undefined) await write(content)
  await stage.host.initialize({ servers }).catch(() => undefined)
  expect(stage.find('safe').error?.message).toContain(`the token file ${tokenFile} ${reason}`)
})

test('a server starts by itself once its token file is there', async () => {
  const { stage, write, servers } = await openStage('http', { startPolicy: 'best-effort' })
  await stage.host.initialize({ servers })
  expect(stage.find('safe').state).toBe('unavailable')
  await write('first-token')
  await eventually(() => stage.find('safe').state === 'ready')
})
