import { HostError } from '@mcp-host/client'
import { beforeEach, expect, test } from 'vitest'
import type { Wish } from './app-actions.ts'
import { appActions } from './app-actions.ts'

const tools = [
  { name: 'refresh', inputSchema: {}, _meta: { ui: { visibility: ['app'] } } },
  { name: 'plan', inputSchema: {}, _meta: { ui: { visibility: ['model'] } } },
]

let done: unknown[]
let wishes: Wish[]
let isWilling: boolean
let needsApproval: boolean
beforeEach(() => {
  done = []
  wishes = []
  isWilling = true
  needsApproval = false
})

const actions = appActions({
  server: 'own',
  host: {
    async callTool(name, given, options) {
      done.push(['call', name, given, options])
      if (needsApproval && options.approval === undefined)
        throw new HostError('conflict', 'a user has to allow it', { status: 409, approval: 'a1' })
      return { content: [] }
    },
    async readResource(uri, server) {
      done.push(['read', uri, server])
      return [{ uri }]
    },
    async answerApproval(id, action) {
      done.push(['approval', id, action])
    },
  },
  findTool: async (server, name) =>
    server === 'own' ? tools.find((tool) => tool.name === name) : undefined,
  ask: async (wish) => {
    wishes.push(wish)
    return isWilling
  },
  draft: (text) => void done.push(['draft', text]),
})

test('a tool is called at the server of the app', async () => {
  const result = await actions.callTool({ name: 'refresh', arguments: { a: 1 }, server: 'other' })
  expect(result).toEqual({ content: [] })
  expect(done).toEqual([['call', 'refresh', { a: 1 }, { server: 'own' }]])
  expect(wishes).toEqual([])
})

test.each(['plan', 'other__refresh', 'other.refresh', '', 7, 'x'.repeat(300)])(
  'a tool named %j is not called',
  async (name) => {
    await expect(actions.callTool({ name })).rejects.toMatchObject({ code: -32_602 })
    expect(done).toEqual([])
  },
)

test('a call that needs an approval runs after the user has allowed it', async () => {
  needsApproval = true
  await actions.callTool({ name: 'refresh' })
  expect(wishes).toEqual([{ kind: 'call', tool: 'refresh', arguments: {} }])
  expect(done).toEqual([
    ['call', 'refresh', {}, { server: 'own' }],
    ['approval', 'a1', 'accept'],
    ['call', 'refresh', {}, { server: 'own', approval: 'a1' }],
  ])
})

test('a call that the user refuses does not run', async () => {
  needsApproval = true
  isWilling = false
  await expect(actions.callTool({ name: 'refresh' })).rejects.toThrow('does not allow the call')
  expect(done.at(-1)).toEqual(['approval', 'a1', 'decline'])
})

test('a resource is read at the server of the app', async () => {
  expect(await actions.readResource({ uri: 'mem://1' })).toEqual({ contents: [{ uri: 'mem://1' }] })
  expect(done).toEqual([['read', 'mem://1', 'own']])
  await expect(actions.readResource({})).rejects.toThrow('uri: must be a text')
})

test('the user sees the address of a link', async () => {
  expect(await actions.openLink({ url: 'https://example.com/a' })).toEqual({})
  expect(wishes).toEqual([{ kind: 'link', url: 'https://example.com/a' }])
  isWilling = false
  await expect(actions.openLink({ url: 'mailto:a@b.c' })).rejects.toMatchObject({ code: -32_000 })
})

test.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/logout', 'blob:x'])(
  'the user is not asked for %s',
  async (url) => {
    await expect(actions.openLink({ url })).rejects.toThrow('url: must be an address of http:')
    expect(wishes).toEqual([])
  },
)

test.each([
  [{ type: 'text', text: 'hello' }],
  [
    [
      { type: 'image', data: 'x' },
      { type: 'text', text: ' hello ' },
    ],
  ],
])('a message %j goes into the draft when the user takes it', async (content) => {
  await actions.sendMessage({ role: 'user', content })
  expect(wishes).toEqual([{ kind: 'message', text: 'hello' }])
  expect(done).toEqual([['draft', 'hello']])
})

test('a message that the user refuses, or that has no text, goes nowhere', async () => {
  await expect(actions.sendMessage({ content: [] })).rejects.toThrow('content: must be a text')
  expect(wishes).toEqual([])
  isWilling = false
  const content = { type: 'text', text: 'hello' }
  await expect(actions.sendMessage({ content })).rejects.toThrow('does not take the message')
  expect(done).toEqual([])
})
