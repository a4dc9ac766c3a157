import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'
import { inspect } from 'node:util'

import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'
import { textOf } from '@mcp-host/mcp-testkit'
import { type HostEvent, ProtocolError } from './index.ts'

const TOKEN = 'tk-live-0123456789'
const CREDENTIAL = 'hunter2hunter2'
const env = { PATH: process.env['PATH'], TOKEN, OTHER: CREDENTIAL, LEVEL: 'info' }
const ANY_SECRET = new RegExp(`${TOKEN}|${CREDENTIAL}`)

const inspectAll = (value: unknown): string => inspect(value, { depth: 20, showHidden: true })

const errorOf = async (work: Promise<unknown>): Promise<unknown> => {
  const result = await work.then(
    (value: unknown) => ({ value }),
    (error: unknown) => ({ error }),
  )
  return 'error' in result
    ? result.error
    : expect.fail(`the promise did not reject: ${inspectAll(result)}`)
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

test('a JSON-RPC error has the names of variables instead of their values', async () => {
  const { stage } = await startLeaky()
  const error = await errorOf(stage.host.callTool('it.refuse'))
  expect(error).toBeInstanceOf(ProtocolError)
  expect((error as ProtocolError).rpcError?.message).toContain(
    'not allowed with --key=[TOKEN]/info [CREDENTIAL]',
  )
  expect(inspectAll(error)).not.toMatch(ANY_SECRET)
  expect(inspectAll(stage.logged)).not.toMatch(ANY_SECRET)
})

test('a failed tool result has no secret, and a successful result is not changed', async () => {
  const { stage } = await startLeaky()
  const failed = await stage.host.callTool('it.fail')
  expect(textOf(failed)).toBe('failed with --key=[TOKEN]/info [CREDENTIAL]')
  expect(failed.structuredContent).toEqual({ secrets: ['--key=[TOKEN]/info [CREDENTIAL]'] })
  const thrown = await errorOf(stage.host.callTool('it.fail', {}, { throwToolErrors: true }))
  expect(inspectAll(thrown)).not.toMatch(ANY_SECRET)
  expect(await stage.call('it.tell')).toBe(`--key=${TOKEN}/info basic ${CREDENTIAL}`)
})

test('log messages and the last output of a server have no secret', async () => {
  const { stage, events } = await startLeaky()
  await stage.host.callTool('it.log')
  const logged = events.find(({ type }) => type === 'log')
  expect(inspectAll(logged)).toContain('--key=[TOKEN]/info [CREDENTIAL]')
  expect(inspectAll(logged)).not.toMatch(ANY_SECRET)
  const error = await errorOf(stage.host.callTool('it.die'))
  expect(inspectAll(error)).toContain('dies with --key=[TOKEN]/info [CREDENTIAL]')
  for (const each of [error, stage.find('it'), stage.logged]) {
    expect(inspectAll(each)).not.toMatch(ANY_SECRET)
  }
})

test('a refusal of a remote server has no secret of its URL and headers', async () => {
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
  const error = await errorOf(stage.host.initialize({ mcpServers: { it } }))
  expect(inspectAll(error)).toContain('no access to /mcp?key=[TOKEN] with [Authorization]')
  for (const each of [error, stage.find('it'), stage.logged]) {
    expect(inspectAll(each)).not.toMatch(ANY_SECRET)
  }
})

test('the address of an unreachable server has neither variables nor long path segments', async () => {
  const stage = await HostStage.open({ env })
  const url = 'http://127.0.0.1:9/a-part-that-may-be-a-secret/${TOKEN}?key=${TOKEN}'
  const error = await errorOf(stage.host.initialize({ mcpServers: { it: { url } } }))
  expect(String(error)).toContain('(http://127.0.0.1:9/…/…)')
  expect(inspectAll([error, stage.logged, stage.find('it')])).not.toMatch(ANY_SECRET)
  expect(String(error)).not.toContain('a-part-that')
})

test('a program that does not exist is named without the values of variables', async () => {
  const stage = await HostStage.open({ env })
  const it = { command: '${TOKEN}-program', args: [], cwd: stage.workspace.folder }
  const error = await errorOf(stage.host.initialize({ servers: { it } }))
  expect(inspectAll(error)).toContain('[TOKEN]-program')
  expect(inspectAll([error, stage.logged, stage.find('it')])).not.toMatch(ANY_SECRET)
})
