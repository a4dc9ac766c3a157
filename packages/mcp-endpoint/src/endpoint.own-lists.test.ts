import { LOCAL } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { noClients } from '../test/no-clients.ts'
import type { McpClientRecord } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import type { EndpointReply } from './streams/endpoint-reply.ts'
import { McpEndpoint } from './endpoint.ts'
import type { ServerListing } from './listing/server-listing.ts'
import { newSession, readSession, signSession } from '../test/test-sessions.ts'
import { MergedListing } from './listing/merged-listing.ts'
import { ClientVirtualServers } from './listing/client-virtual-servers.ts'
import { AccessPolicy } from './route/access-policy.ts'
import type { ServerReply } from './servers.ts'

const own: ServerListing = {
  server: 'own',
  isOwn: true,
  tools: [{ name: 'login', inputSchema: {} }],
  prompts: [],
  resources: [],
  resourceTemplates: [],
}
const annListing: ServerListing = {
  ...own,
  tools: [...own.tools, { name: 'secret', inputSchema: {} }],
  resources: [{ uri: 'mine://one', name: 'one' }],
}
const text = new TextDecoder()
const bytes = new TextEncoder()
const OK: ServerReply = { type: 'result', json: bytes.encode('{}') }
const [ann, bob] = [newSession({}), newSession({})]
const annId = readSession(ann)?.id ?? ''
const listing = new MergedListing([own], ({ name }) => name)
const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

let record: McpClientRecord
/** Whether the process of `ann` has changed its lists. */
let isChanged: boolean
let changed: Set<() => void>
let sent: string[]
let watched: (readonly string[])[]
let endpoint: McpEndpoint
let policy: AccessPolicy
beforeEach(() => {
  record = {}
  isChanged = false
  changed = new Set()
  sent = []
  watched = []
  const onChange = (listener: () => void): Disposable => {
    changed.add(listener)
    return { [Symbol.dispose]: () => void changed.delete(listener) }
  }
  const nothing: Disposable = { [Symbol.dispose]: () => undefined }
  policy = new AccessPolicy()
  endpoint = new McpEndpoint({
    policy,
    signSession,
    serverInfo: { name: 'us', version: '1' },
    clientVirtualServers: new ClientVirtualServers({
      versions: (client) => (isChanged && client === annId ? new Map([['own', '1']]) : undefined),
      onChange,
      read: async () => annListing,
    }),
    clients: {
      ...noClients,
      record: (client) => (client === annId ? record : {}),
      async change(_, change) {
        record = change(record)
      },
      onChange,
      cancel: () => undefined,
      onCancel: () => nothing,
    },
    servers: {
      async send(_, { method, params }) {
        sent.push(`${method} ${String(params['name'] ?? params['uri'])}`)
        return OK
      },
      resume: () => Promise.reject(new Error('no request is resumable')),
      answer: () => undefined,
      tell: () => undefined,
      watch(_, { uris }) {
        watched.push(uris)
        return nothing
      },
      listen: () => nothing,
      onLog: () => nothing,
    },
  })
})

function exchange(session: string, method: string, body?: unknown): Promise<EndpointReply> {
  const headers: Readonly<Record<string, string>> = { ...usual, 'mcp-session-id': session }
  const { signal } = new AbortController()
  return endpoint.handle(
    {
      method,
      principal: LOCAL,
      header: (name) => headers[name],
      body: bytes.encode(JSON.stringify(body)),
      signal,
      closing: signal,
    },
    { listing, onChange: () => ({ [Symbol.dispose]: () => undefined }) },
  )
}

const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })

async function ask(session: string, body: unknown) {
  const reply = await exchange(session, 'POST', body)
  return JSON.parse(text.decode(reply.body as Uint8Array))
}

const call = request('tools/call', { name: 'secret', arguments: {} })
const unknown = { error: { code: -32_602 } }

test('own lists are listed, called, read and watched only by their client', async () => {
  isChanged = true
  const list = request('tools/list')
  const read = request('resources/read', { uri: 'mine://one' })
  expect((await ask(ann, list)).result.tools).toMatchObject([{ name: 'login' }, { name: 'secret' }])
  for (const each of [call, read]) expect(await ask(ann, each)).toHaveProperty('result')
  expect(await ask(ann, [list, call])).toMatchObject([
    { result: { tools: annListing.tools } },
    { result: {} },
  ])
  await ask(ann, request('resources/subscribe', { uri: 'mine://one' }))
  expect(sent).toEqual([
    'tools/call secret',
    'resources/read mine://one',
    'tools/call secret',
    'resources/subscribe mine://one',
  ])
  expect(record.subscriptions).toEqual(['mine://one'])
  const wrong = request('tools/call', { name: 'nothing' })
  expect(await ask(ann, wrong)).toMatchObject({ id: 1, ...unknown })

  expect((await ask(bob, list)).result.tools).toMatchObject([{ name: 'login' }])
  expect(await ask(bob, call)).toMatchObject(unknown)
  expect(await ask(bob, [call])).toMatchObject([unknown])
  expect(sent).toHaveLength(4)
})

test('own lists are those that the policy lets their client see', async () => {
  isChanged = true
  policy.set(
    PolicyFile.parse({
      rules: [
        { tool: 'secret', effect: 'deny' },
        { resource: 'mine:*', effect: 'deny' },
      ],
    }),
  )
  const list = request('tools/list')
  expect((await ask(ann, list)).result.tools).toMatchObject([{ name: 'login' }])
  const read = request('resources/read', { uri: 'mine://one' })
  const denied = [
    { error: { message: expect.stringContaining('there is no tool') } },
    { error: { message: expect.stringContaining('there is no resource') } },
  ]
  expect([await ask(ann, call), await ask(ann, read)]).toMatchObject(denied)
  expect(await ask(ann, [call, read])).toMatchObject(denied)
  record = { subscriptions: ['mine://one'] }
  const { body } = await exchange(ann, 'GET')
  await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next()
  await new Promise((resolve) => setImmediate(resolve))
  expect([sent, watched]).toEqual([[], []])
})

test('a stream receives changes of own lists and watches their resources', async () => {
  record = { subscriptions: ['mine://one'] }
  const events = async (session: string) => {
    const { body } = await exchange(session, 'GET')
    return (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  }
  const annEvents = await events(ann)
  const bobEvents = await events(bob)
  await annEvents.next()
  await bobEvents.next()
  expect(watched).toEqual([])
  isChanged = true
  for (const listener of changed) listener()
  const next = async () => text.decode((await annEvents.next()).value)
  expect(await next()).toContain('notifications/tools/list_changed')
  expect(await next()).toContain('notifications/resources/list_changed')
  expect(watched).toEqual([['mine://one']])
  isChanged = false
  for (const listener of changed) listener()
  // The prompts have not changed.
  expect(await next()).toContain('notifications/tools/list_changed')
  const silent = new Promise((resolve) => setImmediate(resolve, 'silent'))
  expect(await Promise.race([bobEvents.next(), silent])).toBe('silent')
})
