// The classification must equal that of the official SDK.
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { classify, decodeHeader } from './classify.ts'
import { JsonRpcError } from './json-rpc.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const INFO = 'io.modelcontextprotocol/clientInfo'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

const versions = [undefined, '2024-11-05', '2025-11-25', '2026-07-28', '2027-01-01']
const info = { name: 'a', version: '1' }
const metas: unknown[] = [
  undefined,
  {},
  { progressToken: 1 },
  { [VERSION]: '2026-07-28', [INFO]: info, [CAPABILITIES]: {} },
  { [VERSION]: '2027-01-01', [INFO]: info, [CAPABILITIES]: {} },
  { [VERSION]: '2026-07-28', [CAPABILITIES]: {} },
  { [VERSION]: '2026-07-28', [INFO]: info },
  { [VERSION]: '2026-07-28', [INFO]: {}, [CAPABILITIES]: {} },
  { [VERSION]: '2026-07-28', [INFO]: info, [CAPABILITIES]: 7 },
  { [VERSION]: 7, [INFO]: info, [CAPABILITIES]: {} },
]
const methods = ['initialize', 'tools/call', 'server/discover', 'notifications/cancelled']
const bodies: unknown[] = methods.flatMap((method) =>
  metas.flatMap((meta) => {
    const params = { name: 'x', ...(meta === undefined ? {} : { _meta: meta }) }
    const message = { jsonrpc: '2.0', method, params }
    return [message, { ...message, id: 1 }]
  }),
)
const odd: unknown[] = [
  null,
  7,
  'text',
  true,
  {},
  { jsonrpc: '2.0' },
  { jsonrpc: '1.0', id: 1, method: 'ping' },
  { id: 1, method: 'ping' },
  { jsonrpc: '2.0', id: null, method: 'ping' },
  { jsonrpc: '2.0', id: {}, method: 'ping' },
  { jsonrpc: '2.0', id: 1.5, method: 'ping' },
  { jsonrpc: '2.0', id: 1, method: 7 },
  { jsonrpc: '2.0', id: 1, method: 'ping', params: [] },
  { jsonrpc: '2.0', id: 1, method: 'ping', params: 'x' },
  { jsonrpc: '2.0', id: 1, result: {} },
  { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } },
  { jsonrpc: '2.0', id: 1, result: 7 },
  { jsonrpc: '2.0', result: {} },
  { jsonrpc: '2.0', id: 's', method: 'ping' },
]

const cases = [...bodies, ...odd].flatMap((body) =>
  versions.flatMap((version) =>
    [undefined, 'tools/call', 'ping'].map((method) => ({ body, version, method })),
  ),
)

type Verdict = { kind: string; era?: string; code?: number; status?: number }

function ours({ body, version, method }: (typeof cases)[number]): Verdict {
  try {
    // Missing headers are tested below: here they are all present.
    const filled = { version, method, name: 'x' }
    const incoming = classify(body, filled)
    const era = incoming.kind === 'response' ? 'legacy' : incoming.era
    return { kind: incoming.kind, era }
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error
    return { kind: 'refused', code: error.code, status: error.status }
  }
}

function theirs({ body, version, method }: (typeof cases)[number]): Verdict {
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(method === undefined ? {} : { mcpMethodHeader: method }),
  })
  if (outcome.kind === 'reject') {
    return { kind: 'refused', code: outcome.code, status: outcome.httpStatus }
  }
  if (outcome.kind === 'legacy') {
    const isRequest = outcome.reason === 'initialize' || outcome.reason === 'no-claim'
    return { kind: isRequest ? 'request' : outcome.reason, era: 'legacy' }
  }
  const { messageKind, classification } = outcome
  if (messageKind === 'request' && classification.revision !== '2026-07-28') {
    return { kind: 'refused', code: -32_022, status: 400 }
  }
  return { kind: messageKind, era: 'modern' }
}

/** Whether a request of 2026-07-28 lacks required headers. */
function lacksHeaders({ version, method }: (typeof cases)[number]): boolean {
  return version === undefined || method === undefined
}

test(`all of ${cases.length} requests are classified as by the SDK`, () => {
  const differing = cases.flatMap((each) => {
    const own = ours(each)
    const other = theirs(each)
    const isRight =
      JSON.stringify(own) === JSON.stringify(other) ||
      // The SDK checks the headers later.
      (other.kind === 'request' &&
        other.era === 'modern' &&
        lacksHeaders(each) &&
        own.code === -32_020)
    return isRight ? [] : [{ ...each, own, other }]
  })
  expect(differing).toEqual([])
})

const modern = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'é', _meta: { [VERSION]: '2026-07-28', [INFO]: info, [CAPABILITIES]: {} } },
}
const headers = { version: '2026-07-28', method: 'tools/call', name: '=?base64?w6k=?=' }

test('a modern request with matching headers is accepted', () => {
  expect(classify(modern, headers)).toMatchObject({ kind: 'request', era: 'modern', id: 1 })
})

test.each([
  ['no version', { ...headers, version: undefined }],
  ['no method', { ...headers, method: undefined }],
  ['no name', { ...headers, name: undefined }],
  ['another name', { ...headers, name: 'e' }],
  ['a name that is not Base64', { ...headers, name: '=?base64?w6k?=' }],
  ['a name that is not UTF-8', { ...headers, name: '=?base64?6Q==?=' }],
])('a modern request with %s in its headers is refused', (_, requestHeaders) => {
  expect(() => classify(modern, requestHeaders)).toThrow(
    expect.objectContaining({ code: -32_020, status: 400 }),
  )
})

test.each([
  ['plain', 'plain'],
  ['=?base64?aGk=?=', 'hi'],
  ['=?base64?!?=', undefined],
])('the header %s is decoded as %s', (value, decoded) => {
  expect(decodeHeader(value)).toBe(decoded)
})

test('an unknown legacy version is refused with the known ones', () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const unknown = { version: '2024-01-01', method: undefined, name: undefined }
  expect(() => classify(ping, unknown)).toThrow(/2024-01-01; there are 2025-11-25/)
})

test.each<[string, object, object]>([
  ['arguments', { params: { name: 'x', arguments: null } }, { params: { name: 'x' } }],
  ['_meta', { params: { name: 'x', _meta: null } }, { params: { name: 'x' } }],
  [
    'a cursor',
    { method: 'tools/list', params: { cursor: null } },
    { method: 'tools/list', params: {} },
  ],
  ['params', { method: 'tools/list', params: null }, { method: 'tools/list', params: {} }],
])('null as %s means nothing', (_, sent, meant) => {
  const base = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  expect(classify({ ...base, ...sent }, undefined)).toEqual(
    classify({ ...base, ...meant }, undefined),
  )
})

test('null within the arguments of a call stays', () => {
  const params = { name: 'x', arguments: { a: null } }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  expect(classify(message, undefined)).toMatchObject({ params })
})

test('a notification with null as its id is a notification', () => {
  const message = { jsonrpc: '2.0', id: null, method: 'notifications/initialized' }
  expect(classify(message, undefined)).toMatchObject({ kind: 'notification' })
})
