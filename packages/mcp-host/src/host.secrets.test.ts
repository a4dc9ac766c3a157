import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'
import { inspect } from 'node:util'

import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'
import { textOf } from '../test/text-of.ts'
import { type HostEvent, ProtocolError } from './index.ts'

const TOKEN = 'tk-live-0123456789'
const CREDENTIAL = 'hunter2hunter2'
const env = { PATH: process.env['PATH'], TOKEN, OTHER: CREDENTIAL, LEVEL: 'info' }
const ANY_SECRET = new RegExp(`${TOKEN}|${CREDENTIAL}`)

const shown = (value: unknown): string => inspect(value, { depth: 20, showHidden: true })

const failure = async (work: Promise<unknown>): Promise<unknown> => {
  const result = await work.then(
    (value: unknown) => ({ value }),
    (error: unknown) => ({ error }),
  )
  return 'error' in result ? result.error : expect.fail(`it did not fail: ${shown(result)}`)
}

async function startLeaky(): Promise<{ stage: HostStage; events: HostEvent[] }> {
  const stage = await HostStage.open({ env, startPolicy: 'best-effort' })
  const events: HostEvent[] = []
  stage.host.on('log', (event) => events.push(event))
  const { command, args, cwd } = stage.workspace.fixture('leaky', '--key=${TOKEN}/${LEVEL}')
  const it = { command, args, cwd, env: { CREDENTIAL: 'basic ${OTHER}' } }
  await stage.host.initialize({ servers: { it } })
  return { stage, events }
}

test('a JSON-RPC error has the names of variables in the place of their values', async () => {
  const { stage } = await startLeaky()
  const error = await failure(stage.host.callTool('it.refuse'))
  expect(error).toBeInstanceOf(ProtocolError)
  expect((error as ProtocolError).rpcError?.message).toContain(
    'not allowed with --key=[TOKEN]/info [CREDENTIAL]',
  )
  expect(shown(error)).not.toMatch(ANY_SECRET)
  expect(shown(stage.logged)).not.toMatch(ANY_SECRET)
})

test('a tool that fails repeats no secret, and one that succeeds is not changed', async () => {
  const { stage } = await startLeaky()
  const failed = await stage.host.callTool('it.fail')
  expect(textOf(failed)).toBe('failed with --key=[TOKEN]/info [CREDENTIAL]')
  expect(failed.structuredContent).toEqual({ seen: ['--key=[TOKEN]/info [CREDENTIAL]'] })
  const thrown = await failure(stage.host.callTool('it.fail', {}, { throwToolErrors: true }))
  expect(shown(thrown)).not.toMatch(ANY_SECRET)
  expect(await stage.say('it.tell')).toBe(`--key=${TOKEN}/info basic ${CREDENTIAL}`)
})

test('what a server logs and how it ends has no secret', async () => {
  const { stage, events } = await startLeaky()
  await stage.host.callTool('it.log')
  const logged = events.find(({ type }) => type === 'log')
  expect(shown(logged)).toContain('--key=[TOKEN]/info [CREDENTIAL]')
  expect(shown(logged)).not.toMatch(ANY_SECRET)
  const error = await failure(stage.host.callTool('it.die'))
  expect(shown(error)).toContain('dies with --key=[TOKEN]/info [CREDENTIAL]')
  for (const each of [error, stage.find('it'), stage.logged]) {
    expect(shown(each)).not.toMatch(ANY_SECRET)
  }
})

test('a remote server that refuses repeats no secret of its address and headers', async () => {
  await using refusing = createServer((request, response) => {
    void refuse(request, response)
  }).listen(0, '127.0.0.1')
  const refuse = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { id } = JSON.parse(await bodyOf(request)) as { id: unknown }
    const message = `no access to ${request.url} with ${request.headers.authorization}`
    const error = { code: -32_600, message, data: { headers: request.headers } }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
  }
  await once(refusing, 'listening')
  const { port } = refusing.address() as AddressInfo
  const stage = await HostStage.open({ env })
  const url = `http://127.0.0.1:${port}/mcp?key=\${TOKEN}`
  const it = { type: 'http', url, headers: { Authorization: 'Bearer ${OTHER}' } }
  const error = await failure(stage.host.initialize({ mcpServers: { it } }))
  expect(shown(error)).toContain('no access to /mcp?key=[TOKEN] with [Authorization]')
  for (const each of [error, stage.find('it'), stage.logged]) {
    expect(shown(each)).not.toMatch(ANY_SECRET)
  }
})

test('the address of a server that is not there shows neither variables nor long parts', async () => {
  const stage = await HostStage.open({ env })
  const url = 'http://127.0.0.1:9/a-part-that-may-be-a-secret/${TOKEN}?key=${TOKEN}'
  const error = await failure(stage.host.initialize({ mcpServers: { it: { url } } }))
  expect(String(error)).toContain('(http://127.0.0.1:9/…/…)')
  expect(shown([error, stage.logged, stage.find('it')])).not.toMatch(ANY_SECRET)
  expect(String(error)).not.toContain('a-part-that')
})

test('a program that is not there is named without its variables', async () => {
  const stage = await HostStage.open({ env })
  const it = { command: '${TOKEN}-program', args: [], cwd: stage.workspace.folder }
  const error = await failure(stage.host.initialize({ servers: { it } }))
  expect(shown(error)).toContain('[TOKEN]-program')
  expect(shown([error, stage.logged, stage.find('it')])).not.toMatch(ANY_SECRET)
})
