// Tries to run a tool that needs an approval without one, or with other arguments, from every entrance.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AuditEntry } from '@mcp-host/audit'
import type { Stack } from '@mcp-host/testkit'
import {
  ChatSocket,
  createKey,
  eventually,
  script,
  startStack,
  testFolder,
} from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const PAY = 'test__pay'
const MODERN = '2026-07-28'
const META = 'io.modelcontextprotocol'

type Message = Record<string, unknown>

const servers = { test: {} }
const BUNDLES = { bundles: { all: { servers }, searched: { servers, toolSearch: true } } }

const cleanup = new AsyncDisposableStack()
let stack: Stack
let ann: { readonly authorization: string }
let bob: { readonly authorization: string }

beforeAll(async () => {
  const folder = cleanup.use(await testFolder()).path
  const [policy, bundles] = [join(folder, 'policy.json'), join(folder, 'bundles.json')]
  await writeFile(policy, JSON.stringify({ rules: [{ tool: 'pay', effect: 'approve' }] }))
  await writeFile(bundles, JSON.stringify(BUNDLES))
  stack = cleanup.use(
    await startStack({
      tools: [{ name: 'pay', inputSchema }],
      env: { AUTH: 'keys', AUDIT: 'required', POLICY_CONFIG: policy, BUNDLES_CONFIG: bundles },
    }),
  )
  const bus = await stack.broker.connect()
  ann = await createKey(bus, 'user:ann')
  bob = await createKey(bus, 'user:bob')
}, 120_000)
afterAll(() => cleanup.disposeAsync())

/** The texts of the payments that reached the server. */
async function payments(): Promise<unknown[]> {
  return (await stack.journal()).map(({ arguments: given }) => (given as { text: unknown }).text)
}

async function post(path: string, body: unknown, headers: Record<string, string> = ann) {
  const response = await fetch(stack.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
  return { text: await response.text(), session: response.headers.get('mcp-session-id') ?? '' }
}

const call = (text: string, more: Message = {}, name = PAY) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: { text }, ...more },
})

/** The parameters by which a client of 2026-07-28 says what it can. */
const modern = (capabilities: Message) => ({
  _meta: { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: capabilities },
})
const modernHeaders = (name = PAY, credential = ann) => ({
  ...credential,
  'mcp-protocol-version': MODERN,
  'mcp-method': 'tools/call',
  'mcp-name': name,
})

async function beginSession(path: string, capabilities: Message): Promise<Record<string, string>> {
  const params = {
    protocolVersion: '2025-03-26',
    capabilities,
    clientInfo: { name: 't', version: '1' },
  }
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
  const { session } = await post(path, initialize)
  return { ...ann, 'mcp-session-id': session }
}

/** What a client of 2026-07-28 is asked before the call. */
async function askedOf(text: string, credential = ann): Promise<{ requestState: string }> {
  const body = call(text, modern({ elicitation: { form: {} } }))
  const asked = await post('/mcp', body, modernHeaders(PAY, credential))
  const { result } = JSON.parse(asked.text) as { result: { requestState: string } }
  expect(result).toMatchObject({ resultType: 'input_required' })
  return result
}

async function overSocket(path: string, text: string): Promise<void> {
  const { ticket } = JSON.parse((await post('/api/tickets', {})).text) as { ticket: string }
  const url = `${stack.url.replace('http', 'ws')}${path}?ticket=${ticket}`
  const socket = new WebSocket(url, 'mcp')
  const answered = new Promise((resolve) => socket.addEventListener('message', resolve))
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  socket.send(JSON.stringify(call(text, modern({}))))
  await answered
  socket.close()
}

/** Chats with a model that calls the tool, and answers the question for it, if that is wanted. */
async function chatWith(text: string, action?: string, other?: string): Promise<void> {
  using chat = await ChatSocket.open({ url: stack.url, headers: ann })
  const calls = [{ name: PAY, arguments: { text } }]
  chat.say(script({ calls }, { tokens: 1 }), 'm1')
  const asked = await chat.waitFor(({ type }) => type === 'input')
  const id = asked.type === 'input' ? asked.payload.id : ''
  if (other !== undefined) {
    const path = `/api/chat/session/${chat.sessionId}/answer`
    const body = { id, action: 'accept' }
    await post(path, body, { authorization: other })
  }
  if (action === undefined) chat.send({ type: 'cancel', payload: { messageId: 'm1' } })
  else chat.send({ type: 'answer', payload: { id, action } })
  await chat.turnsDone()
}

const accept = { approval: { action: 'accept', content: {} } }
const attempts: Readonly<Record<string, (text: string) => Promise<unknown>>> = {
  REST: (text) => post('/mcp/tools/call', { name: PAY, arguments: { text } }),
  '/mcp with a session that cannot be asked': async (text) =>
    post('/mcp', call(text), await beginSession('/mcp', {})),
  '/mcp in a batch': async (text) => post('/mcp', [call(text)], await beginSession('/mcp', {})),
  '/mcp with a session that can be asked, in a batch': async (text) =>
    post('/mcp', [call(text)], await beginSession('/mcp', { elicitation: {} })),
  '/mcp/servers/test': async (text) =>
    post('/mcp/servers/test', call(text, {}, 'pay'), await beginSession('/mcp/servers/test', {})),
  '/mcp/bundles/all': async (text) =>
    post('/mcp/bundles/all', call(text), await beginSession('/mcp/bundles/all', {})),
  '/mcp by its dotted name': async (text) =>
    post('/mcp', call(text, {}, 'test.pay'), await beginSession('/mcp', {})),
  '/mcp through the tool that calls found tools': async (text) => {
    const found = { name: 'call_tool', arguments: { name: PAY, arguments: { text } } }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: found }
    const path = '/mcp/bundles/searched'
    return post(path, body, await beginSession(path, {}))
  },
  '/mcp of 2026-07-28 without elicitation': (text) =>
    post('/mcp', call(text, modern({})), modernHeaders()),
  '/mcp of 2026-07-28 with an answer that nobody asked for': (text) =>
    post(
      '/mcp',
      call(text, { ...modern({ elicitation: {} }), inputResponses: accept }),
      modernHeaders(),
    ),
  '/mcp of 2026-07-28 with a forged state': (text) => {
    const forged = { requestState: Buffer.from('{"isAllowed":true}').toString('base64url') }
    const body = call(text, { ...modern({ elicitation: {} }), ...forged, inputResponses: accept })
    return post('/mcp', body, modernHeaders())
  },
  '/mcp of 2026-07-28 with the approval of other arguments': async (text) => {
    const { requestState } = await askedOf('a small payment')
    const more = { ...modern({ elicitation: {} }), requestState, inputResponses: accept }
    return post('/mcp', call(text, more), modernHeaders())
  },
  '/mcp of 2026-07-28 with the approval of another principal': async (text) => {
    const { requestState } = await askedOf(text, bob)
    const more = { ...modern({ elicitation: {} }), requestState, inputResponses: accept }
    return post('/mcp', call(text, more), modernHeaders())
  },
  '/mcp/ws': (text) => overSocket('/mcp/ws', text),
  'a chat whose user declines': (text) => chatWith(text, 'decline'),
  'a chat whose user leaves the question': (text) => chatWith(text),
  'a chat whose question another principal allows': (text) =>
    chatWith(text, 'decline', bob.authorization),
}

describe('a tool that needs an approval', () => {
  test.each(Object.keys(attempts))('does not run by %s', async (entrance) => {
    await attempts[entrance]?.(entrance)
    expect(await payments()).not.toContain(entrance)
  })

  test('waits over REST for its user, also when its gateway is killed, and runs once', async () => {
    const body = { name: PAY, arguments: { text: 'approved over REST' } }
    const asked = JSON.parse((await post('/mcp/tools/call', body)).text) as {
      error: { approval: { id: string; path: string } }
    }
    const { id, path } = asked.error.approval
    await stack.kill('gateway')
    await stack.restart('gateway')
    await post(path, { action: 'accept' }, bob)
    await post('/mcp/tools/call', { ...body, approval: id }, bob)
    expect(await payments()).not.toContain('approved over REST')
    await post(path, { action: 'accept' })
    await post('/mcp/tools/call', { name: PAY, arguments: { text: 'other' }, approval: id })
    const again = () => post('/mcp/tools/call', { ...body, approval: id })
    await Promise.all([again(), again(), again()])
    const paid = (await payments()).filter((text) => text === 'approved over REST')
    expect(paid).toHaveLength(1)
    expect(await payments()).not.toContain('other')
  })

  test('waits for the user of a client at /mcp that cannot ask', async () => {
    const session = await beginSession('/mcp', {})
    const body = call('approved for a client')
    const { text } = await post('/mcp', body, session)
    const { path } = (JSON.parse(text) as { error: { data: { approval: { path: string } } } }).error
      .data.approval
    await post(path, { action: 'accept' })
    await eventually(async () => (await post('/mcp', body, session)).text.includes('"result"'))
    expect((await post('/mcp', body, session)).text).toContain('approval-required')
  })

  test('runs once with the arguments that were approved', async () => {
    const { requestState } = await askedOf('approved')
    const more = { ...modern({ elicitation: {} }), requestState, inputResponses: accept }
    const pay = () => post('/mcp', call('approved', more), modernHeaders())
    await Promise.all([pay(), pay(), pay()])
    await pay()
    await chatWith('approved in a chat', 'accept')
    expect((await payments()).slice(-2)).toEqual(['approved', 'approved in a chat'])
    expect((await payments()).filter((text) => text === 'approved')).toHaveLength(1)
  })

  describe('with an argument of another type', () => {
    const asWritten = (text: number) => ({ name: PAY, arguments: { text } })
    const asSent = (text: number) => ({ text: String(text) })

    /** The arguments in the audit entries of the decision and of the call. */
    async function audited(text: number): Promise<unknown[]> {
      const bus = await stack.broker.connect()
      const messages = await Array.fromAsync(bus.audit.read())
      return messages
        .flatMap(({ entries }) => entries.map((entry) => AuditEntry.parse(JSON.parse(entry))))
        .filter(({ action }) => action === 'approval-answered' || action === 'tool-started')
        .map((entry) => entry.arguments as { readonly text: unknown })
        .filter((given) => String(given.text) === String(text))
    }

    test('shows and runs in a chat what the server gets', async () => {
      using chat = await ChatSocket.open({ url: stack.url, headers: ann })
      chat.say(script({ calls: [asWritten(71)] }, { tokens: 1 }))
      const asked = await chat.waitFor(({ type }) => type === 'input')
      expect(asked).toMatchObject({ payload: { arguments: asSent(71) } })
      const id = asked.type === 'input' ? asked.payload.id : ''
      chat.send({ type: 'answer', payload: { id, action: 'accept' } })
      await chat.turnsDone()
      expect(await audited(71)).toEqual([asSent(71), asSent(71)])
      expect(await payments()).toContain('71')
    })

    test('shows and runs at /mcp what the server gets', async () => {
      const body = (more: Message) => ({ ...call('', more), params: { ...asWritten(72), ...more } })
      const able = modern({ elicitation: { form: {} } })
      const asked = JSON.parse((await post('/mcp', body(able), modernHeaders())).text)
      const { approval } = asked.result.inputRequests
      expect(approval.params.message).toContain(JSON.stringify(asSent(72)))
      const { requestState } = asked.result
      const answered = { ...able, requestState, inputResponses: accept }
      await post('/mcp', body(answered), modernHeaders())
      expect(await payments()).toContain('72')
      expect(await audited(72)).toEqual([asSent(72), asSent(72)])
    })

    test('shows and runs over REST what the server gets', async () => {
      const asked = JSON.parse((await post('/mcp/tools/call', asWritten(73))).text)
      const { id, path } = asked.error.approval
      const shown = await fetch(stack.url + path, { headers: ann })
      expect(await shown.json()).toMatchObject({ arguments: asSent(73) })
      await post(path, { action: 'accept' })
      await post('/mcp/tools/call', { ...asWritten(73), approval: id })
      expect(await payments()).toContain('73')
    })
  })
})
