import type { Principal } from '@mcp-host/contracts'
import { approvalRule, LOCAL, POLICY_METHOD } from '@mcp-host/contracts'
import { PolicyFile } from '@mcp-host/policy'
import { beforeEach, describe, expect, test } from 'vitest'
import { noClients, nothing } from '../test/no-clients.ts'
import { Approvals } from './route/approvals.ts'
import { McpEndpoint } from './endpoint.ts'
import { newSession, signSession } from '../test/test-sessions.ts'
import { MergedListing } from './listing/merged-listing.ts'
import type { Params } from './messages/json-rpc.ts'
import { AccessPolicy } from './route/access-policy.ts'
import { StateSeal } from './messages/state-seal.ts'
import type { OutgoingRequest } from './servers.ts'

const inputSchema = { type: 'object' }
const serverListing = {
  server: 'files',
  tools: [
    { name: 'delete', inputSchema, annotations: { destructiveHint: true } },
    { name: 'read', inputSchema, annotations: { readOnlyHint: true } },
    { name: 'named', inputSchema, annotations: { readOnlyHint: true } },
  ],
  prompts: [],
  resources: [],
  resourceTemplates: [],
}
const listing = new MergedListing([serverListing], ({ server, name }) => `${server}__${name}`)
const KEY = 'io.modelcontextprotocol'
const modern = (elicitation?: object) => ({
  [`${KEY}/protocolVersion`]: '2026-07-28',
  [`${KEY}/clientCapabilities`]: elicitation === undefined ? {} : { elicitation },
})

const text = new TextDecoder()
const bytes = new TextEncoder()

let sent: OutgoingRequest[]
/** Answers to questions of supervisors. */
let answers: unknown[]
let policy: AccessPolicy
/** Calls that wait in the queue, and whether one of them was allowed there. */
let queued: unknown[]
let isAllowed: boolean
let principal: Principal
/** The questions whose answers are used, as all gateways know them. */
let used: Set<string>
let answer: () => object
/** Two gateways, which share only the secret. */
let gateways: McpEndpoint[]
let timeoutMs: number
beforeEach(() => {
  sent = []
  queued = []
  isAllowed = false
  principal = LOCAL
  used = new Set()
  timeoutMs = 10_000
  answer = () => ({ content: [] })
  answers = []
  policy = new AccessPolicy({ needsApproval: approvalRule(['@destructive', 'files.named']) })
  const secret = crypto.getRandomValues(new Uint8Array(32))
  gateways = Array.from({ length: 2 }, () => {
    return new McpEndpoint({
      signSession,
      serverInfo: { name: 'us', version: '1' },
      clients: noClients,
      policy,
      approvals: new Approvals({
        seal: new StateSeal(async () => secret),
        sentArguments: async (_tool, args) => args,
        pageUrl: 'http://host/#/approvals',
        get timeoutMs() {
          return timeoutMs
        },
        queue: {
          ask: async (_, call) => {
            queued.push(call)
            return { id: 'a1', expiresAt: 7 }
          },
          take: async () => isAllowed,
          spend: async (_caller, _call, question) => used.size < used.add(question).size,
        },
      }),
      servers: {
        resume: () => Promise.reject(new Error('no request is resumable')),
        answer: (...given) => void answers.push(given),
        tell: () => undefined,
        watch: () => nothing,
        listen: () => nothing,
        onLog: () => nothing,
        async send(_, request) {
          sent.push(request)
          return { type: 'result', json: bytes.encode(JSON.stringify(answer())) }
        },
      },
    })
  })
})

async function send(message: unknown, session?: string, gateway = gateways[0]!) {
  const { signal } = new AbortController()
  const headers: Record<string, string | undefined> = {
    'content-type': 'application/json',
    'mcp-session-id': session,
  }
  const isModern = JSON.stringify(message).includes('2026-07-28')
  const reply = await gateway.handle(
    {
      method: 'POST',
      principal,
      header: (name) => headers[name],
      body: bytes.encode(JSON.stringify(message)),
      ...(isModern ? { message } : {}),
      signal,
      closing: signal,
    },
    { listing, onChange: () => nothing },
  )
  if (!(reply.body instanceof Uint8Array)) throw new Error('the answer is a stream')
  return { status: reply.status, ...JSON.parse(text.decode(reply.body)) }
}

const request = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
const call = (params: object, gateway?: McpEndpoint) => send(request(params), undefined, gateway)
const deletion = { name: 'files__delete', arguments: { path: '/a', deep: { x: 1, y: 2 } } }
const asking = { ...deletion, _meta: modern({}) }
const accepted = { inputResponses: { approval: { action: 'accept', content: {} } } }

async function requestState(params: object = asking): Promise<unknown> {
  return (await call(params)).result.requestState
}

test('a modern client is asked by input_required, and its retry runs at any gateway', async () => {
  const { result } = await call(asking)
  expect(result).toEqual({
    resultType: 'input_required',
    inputRequests: {
      approval: {
        method: 'elicitation/create',
        params: {
          message: 'May files.delete be called with {"path":"/a","deep":{"x":1,"y":2}}?',
          requestedSchema: { type: 'object', properties: {} },
        },
      },
    },
    requestState: expect.any(String),
  })
  expect(sent).toEqual([])
  const { requestState: state } = result
  // The order of the keys of arguments does not matter.
  const reordered = { path: '/a', deep: { y: 2, x: 1 } }
  const allowed = { ...asking, arguments: reordered, requestState: state, ...accepted }
  expect((await call(allowed, gateways[1])).result).toEqual({ content: [] })
  expect(sent.map(({ params }) => params)).toEqual([
    { name: 'delete', arguments: reordered, _meta: asking._meta },
  ])
})

test.each(['modern', 'legacy'])(
  'an approved call of a %s client has no metadata that its user did not see',
  async (era) => {
    const known = {
      ...(era === 'modern' && modern({})),
      progressToken: 1,
      traceparent: '00-1-2-01',
    }
    const asked = { ...deletion, _meta: { ...known, 'x.example/also': 'delete /b' } }
    isAllowed = era === 'legacy'
    const answered = era === 'modern' && { requestState: await requestState(asked), ...accepted }
    await call({ ...asked, ...answered })
    expect(sent.map(({ params }) => params['_meta'])).toEqual([known])
  },
)

test('an approval is valid only for the same tool and arguments', async () => {
  const state = await requestState()
  const others = [
    { ...asking, arguments: { path: '/b' } },
    { ...asking, arguments: undefined },
    { ...asking, name: 'files__named' },
  ]
  for (const other of others) {
    const { result } = await call({ ...other, requestState: state, ...accepted })
    expect(result).toMatchObject({ resultType: 'input_required' })
  }
  expect(sent).toEqual([])
})

test.each([
  ['forged', async () => 'mcp-host-sealed.e30.00'],
  ['issued by another part', async () => 'mcp-host.process.x'],
  ['absent', async () => undefined],
  ['changed', async (state: string) => `${state.slice(0, -2)}00`],
  [
    'sealed with another secret',
    async () => {
      const other = new StateSeal(async () => new Uint8Array(32))
      return other.seal({ isAllowed: true, until: Date.now() + 10_000 })
    },
  ],
])('a requestState that is %s approves nothing', async (_, make) => {
  const state = await make(String(await requestState()))
  const { result } = await call({ ...asking, requestState: state, ...accepted })
  expect(result).toMatchObject({ resultType: 'input_required' })
  expect(sent).toEqual([])
})

test('an approval after its time limit is requested again', async () => {
  timeoutMs = 0
  const { result } = await call({ ...asking, requestState: await requestState(), ...accepted })
  expect(result).toMatchObject({ resultType: 'input_required' })
  expect(sent).toEqual([])
})

test.each(['decline', 'cancel'])(
  'a call whose approval is answered with %s does not run',
  async (action) => {
    const inputResponses = { approval: { action } }
    const { result } = await call({ ...asking, requestState: await requestState(), inputResponses })
    expect(result).toMatchObject({ resultType: 'complete', isError: true })
    expect(sent).toEqual([])
  },
)

test('input that the server requires in an approved call needs no second approval', async () => {
  answer = () => ({ resultType: 'input_required', inputRequests: { q: {} }, requestState: 'its' })
  const first = await call({ ...asking, requestState: await requestState(), ...accepted })
  expect(first.result).toMatchObject({ resultType: 'input_required', inputRequests: { q: {} } })
  answer = () => ({ resultType: 'input_required', inputRequests: { r: {} } })
  const inputResponses = { q: { action: 'accept' } }
  const second = await call({ ...asking, ...first.result, inputResponses })
  answer = () => ({ content: [] })
  const third = await call({ ...asking, requestState: second.result.requestState })
  expect(third.result).toEqual({ content: [] })
  const states = sent.map(({ params }) => [params['requestState'], params['inputResponses']])
  expect(states).toEqual([
    [undefined, undefined],
    ['its', inputResponses],
    [undefined, undefined],
  ])
  // The state is not valid for other arguments.
  const other = { ...asking, arguments: {}, requestState: first.result.requestState }
  expect((await call(other)).result.inputRequests).toHaveProperty('approval')
})

test.each([[undefined], [{ url: {} }]])(
  'a modern client with the elicitation %j is refused with the missing capability',
  async (elicitation) => {
    expect(await call({ ...deletion, _meta: modern(elicitation) })).toMatchObject({
      status: 400,
      error: {
        code: -32_021,
        data: {
          reason: 'approval-required',
          server: 'files',
          tool: 'delete',
          requiredCapabilities: { elicitation: { form: {} } },
        },
      },
    })
    expect(sent).toEqual([])
  },
)

const data = { reason: 'approval-required', server: 'files', tool: 'delete', retryable: false }

test('the call of a legacy client with a session is sent with the approval to request', async () => {
  const session = newSession({ elicitation: {} })
  await send(request(deletion), session)
  await send(request({ name: 'files__read' }), session)
  expect(sent.map(({ confirm }) => confirm)).toEqual([
    'May files.delete be called with {"path":"/a","deep":{"x":1,"y":2}}?',
    undefined,
  ])
})

test.each([
  ['the tool', { tool: 'delete' }],
  ['these arguments', { arguments: { path: '/a' } }],
])('a policy that denies %s while the user is asked is followed', async (_, rule) => {
  await send(request(deletion), newSession({ elicitation: {} }))
  const { listener, client } = sent[0]!
  const body = JSON.stringify({ name: 'delete', arguments: deletion.arguments })
  listener?.onAsk('files.1', POLICY_METHOD, body)
  policy.set(PolicyFile.parse({ rules: [{ ...rule, effect: 'deny' }] }))
  listener?.onAsk('files.2', POLICY_METHOD, body)
  expect(answers).toEqual([
    ['files.1', client?.id, { result: { isAllowed: true } }],
    ['files.2', client?.id, { result: { isAllowed: false } }],
  ])
})

test('an approved call of a modern client reports its progress', async () => {
  const params = { ...asking, _meta: { ...asking._meta, progressToken: 'p' } }
  const state = await requestState(params)
  await call({ ...params, requestState: state, ...accepted })
  expect(sent.map(({ listener }) => listener)).toEqual([expect.anything()])
})

test('a legacy call without elicitation, without a session or in a batch is refused', async () => {
  const refused = { status: 200, error: { code: -32_000, data } }
  expect(await send(request(deletion), newSession({}))).toMatchObject(refused)
  expect(await send(request(deletion))).toMatchObject(refused)
  const batch = await send([request(deletion)], newSession({ elicitation: {} }))
  expect(batch[0]).toMatchObject({ error: { code: -32_000, data } })
  expect(sent).toEqual([])
})

test('a client that cannot ask is told the page where its call waits, and the call runs once it was allowed there', async () => {
  const approval = {
    id: 'a1',
    path: '/api/approvals/a1',
    url: 'http://host/#/approvals',
    expiresAt: 7,
  }
  const asked = { server: 'files', tool: 'delete', arguments: deletion.arguments }
  for (const params of [deletion, { ...deletion, _meta: modern() }]) {
    queued = []
    isAllowed = false
    const { error } = await call(params)
    expect(error).toMatchObject({
      message: expect.stringContaining('waits for the user at http://host/#/approvals; once'),
      data: { reason: 'approval-required', approval },
    })
    expect([queued, sent]).toEqual([[asked], []])
    isAllowed = true
    expect((await call(params)).result).toEqual({ content: [] })
    expect(sent.splice(0)).toHaveLength(1)
  }
})

describe('a client without the scope decide', () => {
  const program: Principal = { ...LOCAL, scopes: ['mcp'] }
  const waits = { message: expect.stringContaining('lacks the scope decide'), data }

  test.each([
    ['a modern client', asking, undefined],
    ['a session', deletion, newSession({ elicitation: {} })],
  ])('is not asked as %s: its call waits in the queue', async (_, params, session) => {
    principal = program
    expect((await send(request(params), session)).error).toMatchObject(waits)
    expect([queued.length, sent]).toEqual([1, []])
    isAllowed = true
    expect((await send(request(params), session)).result).toEqual({ content: [] })
    expect(sent.map(({ confirm }) => confirm)).toEqual([undefined])
  })

  test('cannot answer the question to another client of its user', async () => {
    const state = await requestState()
    principal = program
    expect((await call({ ...asking, requestState: state, ...accepted })).error).toMatchObject(waits)
    expect(sent).toEqual([])
  })

  test('answers what the server requires in its allowed call', async () => {
    principal = program
    isAllowed = true
    answer = () => ({ resultType: 'input_required', inputRequests: { q: {} }, requestState: 'its' })
    const first = await call(asking)
    isAllowed = false
    answer = () => ({ content: [] })
    const inputResponses = { q: { action: 'accept' } }
    const second = await call({ ...asking, ...first.result, inputResponses })
    expect(second.result).toEqual({ content: [] })
    expect(sent[1]?.params).toMatchObject({ requestState: 'its', inputResponses })
  })
})

test('tools that no rule matches need no approval', async () => {
  await call({ name: 'files__read', _meta: modern() })
  expect(sent).toHaveLength(1)
})

const questionIn = ({ result }: { result: { inputRequests: Params } }): string =>
  (result.inputRequests['approval'] as { params: { message: string } }).params.message

test('a question shows all arguments, and every character of them', async () => {
  const end = 'rm -rf /'
  const asked = await call({ ...asking, arguments: { text: `${'x'.repeat(5_000)}${end}` } })
  expect(questionIn(asked)).toContain(`${end}"}?`)
  const path = 'a\u202Egpj.exe\u200B\u{E0041}\u3164\uFE01é👍'
  expect(questionIn(await call({ ...asking, arguments: { path } }))).toBe(
    String.raw`May files.delete be called with {"path":"a\u202egpj.exe\u200b\udb40\udc41\u3164\ufe01é👍"}?`,
  )
})

test.each([
  ['a modern client', asking, undefined],
  ['a session', deletion, newSession({ elicitation: {} })],
])(
  'arguments that are too long for a question of %s are read in the queue',
  async (_, params, session) => {
    const long = { text: 'x'.repeat(10_000) }
    const { error } = await send(request({ ...params, arguments: long }), session)
    expect(error.message).toContain('its arguments are too long for a question')
    expect(error.data).toMatchObject({ reason: 'approval-required', approval: { id: 'a1' } })
    expect([queued, sent]).toEqual([[{ server: 'files', tool: 'delete', arguments: long }], []])
  },
)

test('an approval is good for one call, at any gateway', async () => {
  const allowed = { ...asking, requestState: await requestState(), ...accepted }
  await call(allowed)
  expect(sent).toHaveLength(1)
  for (const gateway of gateways) {
    expect((await call(allowed, gateway)).result).toMatchObject({ resultType: 'input_required' })
  }
  expect(sent).toHaveLength(1)
})

test('a refused call cannot be allowed with the same state', async () => {
  const state = await requestState()
  await call({
    ...asking,
    requestState: state,
    inputResponses: { approval: { action: 'decline' } },
  })
  const { result } = await call({ ...asking, requestState: state, ...accepted })
  expect(result).toMatchObject({ resultType: 'input_required' })
  expect(sent).toEqual([])
})

test('the continuation of an approved call runs once', async () => {
  answer = () => ({ resultType: 'input_required', inputRequests: { q: {} }, requestState: 'its' })
  const first = await call({ ...asking, requestState: await requestState(), ...accepted })
  const continued = { ...asking, ...first.result, inputResponses: { q: { action: 'accept' } } }
  await call(continued)
  expect((await call(continued)).result.inputRequests).toHaveProperty('approval')
  expect(sent).toHaveLength(2)
})

test('a tool that is called with call_tool needs the same approval', async () => {
  const found = new MergedListing([serverListing], ({ name }) => name, { toolSearch: true })
  const { signal } = new AbortController()
  const message = request({ name: 'call_tool', arguments: { name: 'delete' }, _meta: modern() })
  const exchange = {
    method: 'POST',
    principal: LOCAL,
    header: () => undefined,
    body: new Uint8Array(),
    message,
  }
  const reply = await gateways[0]!.handle(
    { ...exchange, signal, closing: signal },
    { listing: found, onChange: () => nothing },
  )
  const { error } = JSON.parse(text.decode(reply.body as Uint8Array)) as { error: Params }
  expect(error).toMatchObject({ code: -32_021 })
})
