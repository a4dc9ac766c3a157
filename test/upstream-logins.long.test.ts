// Logins at MCP servers for longer than the gate has time: tokens that end under load, an authorization server that is
// down, a slow server, and a login from the terminal chat.
import { setTimeout as delay } from 'node:timers/promises'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type LoginServer, openLoginServer, type UserCall } from '@mcp-host/mcp-testkit'
import { eventually, runOnTerminal, script } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LoginHost, startLoginHost } from './login-host.ts'

/** Calls at the same time: about 200 for each supervisor. */
const CALLS = 600
const DOWN_MS = 60_000
const PAUSE_MS = 500
/** The delay of each answer of the slow server. */
const SLOW_MS = 10_000
const LIMIT_MS = 120_000

const cleanup = new AsyncDisposableStack()
const calls: UserCall[] = []
let host: LoginHost<'notes' | 'slow'>
let notes: LoginServer
let slow: LoginServer

beforeAll(async () => {
  notes = cleanup.use(await openLoginServer({ onCall: (call) => calls.push(call) }))
  const server = cleanup.use(await openLoginServer({ delayMs: SLOW_MS }))
  // Four answers come before it is ready: more than the default limit.
  slow = { ...server, entry: { ...server.entry, startTimeoutMs: LIMIT_MS } }
  host = cleanup.use(await startLoginHost({ notes, slow }))
}, LIMIT_MS)
afterAll(() => cleanup.disposeAsync())

test('the terminal chat shows the link, and its call goes on after the login', async () => {
  await using chat = await runOnTerminal(['chat', '--url', host.stack.url])
  await chat.says('/help lists commands')
  const asking = script({ calls: [{ name: 'notes__connect', arguments: {} }] }, { text: 'done' })
  chat.type(asking)
  await chat.says(`${host.url}/connect/notes`)
  // What was typed is echoed before the link.
  const shown = chat.output().length
  await host.connect('notes')
  await eventually(() => chat.output().slice(shown).includes('done'), { what: 'the answer' })
})

test('a token that ends fifty times is replaced fifty times, and none of 30,000 calls fails', async () => {
  await host.listed('notes')
  const { refreshes: before } = notes.issuer
  const rounds = 50
  await host.expireUnderLoad('notes', { rounds, calls: CALLS })
  expect(notes.issuer.refreshes - before).toBe(rounds)
  expect(new Set(calls.map(({ user }) => user))).toEqual(new Set(['ann']))
}, 600_000)

test('an authorization server that is down for a minute costs no login', async () => {
  await host.expire('notes')
  await notes.issuer.stop()
  const over = AbortSignal.timeout(DOWN_MS)
  const answers: string[] = []
  while (!over.aborted) {
    answers.push(await host.call('notes').catch((error: unknown) => String(error)))
    await delay(PAUSE_MS)
  }
  await notes.issuer.restart()
  expect(await host.call('notes')).toBe('ann')
  expect(answers.length).toBeGreaterThan(10)
  const asked = answers.filter((answer) => !answer.includes('the login cannot be used now'))
  expect(asked).toEqual([])
}, 180_000)

test('calls of a server that answers after ten seconds have the token of their user', async () => {
  await host.connect('slow')
  await host.listed('slow', LIMIT_MS)
  const called = { name: 'slow__whoami', arguments: {} }
  const about = { name: 'slow', version: '1.0.0' }
  const address = new URL(`${host.url}/mcp`)
  const legacy = new Client(about)
  await legacy.connect(new StreamableHTTPClientTransport(address))
  const modern = new ModernClient(about, { versionNegotiation: { mode: 'auto' } })
  await modern.connect(new ModernTransport(address))
  const options = { timeout: LIMIT_MS }
  const results = await Promise.all([
    legacy.callTool(called, undefined, options),
    modern.callTool(called, options),
  ])
  const content = [{ type: 'text', text: 'ann' }]
  expect(results).toMatchObject([{ content }, { content }])
  await Promise.all([legacy.close(), modern.close()])
}, 300_000)
