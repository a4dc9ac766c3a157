// A whole host whose clients must authenticate, against hostile requests, frames and credentials.
import { setTimeout as delay } from 'node:timers/promises'
import { ChatSocket, createKey, startStack, startTcpProxy } from '@mcp-host/testkit'
import type { Stack } from '@mcp-host/testkit'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FakeIssuer } from '../packages/auth/src/__fixtures__/fake-issuer.ts'
import { fakeIssuer } from '../packages/auth/src/__fixtures__/fake-issuer.ts'
import { anyJson, anyText, bytesLike, textLike } from './arbitraries.ts'
import { upFrame } from './up-frame.ts'

/** Inputs of one case, sent side by side. */
const BATCH = 50
/** `npm run fuzz -- --inputs N` sets the number of inputs; otherwise time ends the property. */
const { FUZZ_INPUTS } = process.env
/** An answer that takes longer hangs. */
const READ_LIMIT_MS = 30_000
const SERVICES = ['gateway', 'orchestrator', 'llm-worker', 'mcp-supervisor'] as const

/** Recognisable secrets: none may be in a log. */
const PASSWORD = `fuzz-password-${crypto.randomUUID()}`
const COOKIE = `fuzz-cookie-${crypto.randomUUID()}`
const TICKET = crypto.randomUUID().replaceAll('-', '').padEnd(43, 'T')
const PROVIDER_KEY = `sk-fuzz-${crypto.randomUUID()}`

const cleanup = new AsyncDisposableStack()
let url: string
let stack: Stack
let pids: Record<string, number>
let credentials: string[]
let paths: { readonly method: string; readonly path: string }[]

beforeAll(async () => {
  const issuer = cleanup.use(await fakeIssuer())
  const proxy = cleanup.use(await startTcpProxy())
  url = proxy.url
  stack = cleanup.use(
    await startStack({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      env: {
        AUTH: 'keys,local,oidc',
        OIDC_ISSUER: issuer.url,
        PUBLIC_URL: url,
        OPENAI_API_KEY: PROVIDER_KEY,
      },
    }),
  )
  proxy.route(stack.url)
  pids = stack.pids()
  credentials = await makeCredentials(issuer)
  paths = await readPaths()
}, 60_000)
afterAll(() => cleanup.disposeAsync())

/** Values of `Authorization` that are valid, and such that are not any more or for somebody else. */
async function makeCredentials(issuer: FakeIssuer): Promise<string[]> {
  const bus = await stack.broker.connect()
  const users = [['user'], ['auditor'], ['user', 'auditor']]
  const keys = await Promise.all(
    users.map((roles, index) => createKey(bus, `user:fuzz-${index}`, roles)),
  )
  const now = Math.floor(Date.now() / 1_000)
  const claims = { iss: issuer.url, aud: `${url}/mcp`, sub: 'fuzz', iat: now, exp: now + 36_000 }
  const tokens = await Promise.all([
    issuer.sign(claims),
    issuer.sign({ ...claims, exp: now - 1_000 }),
    issuer.sign({ ...claims, aud: 'https://other.example' }),
    issuer.sign(claims, { kid: 'unknown' }),
  ])
  const { authorization = '' } = keys[0] ?? {}
  const wrongKey = `${authorization.slice(0, -8)}00000000`
  return [...keys.map((key) => key.authorization), wrongKey, ...tokens.map((t) => `Bearer ${t}`)]
}

/** Every route of the API, and those that its description leaves out. */
async function readPaths(): Promise<typeof paths> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, object>
  }
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  )
  const more = ['/mcp', '/mcp/servers/test', '/login', '/logout', '/invite/{id}', '/auth/token']
  const others = [...more, '/auth/reg', '/auth/auth', '/.well-known/{id}', '/{id}']
  return [
    ...described,
    ...others.flatMap((path) => ['GET', 'POST'].map((method) => ({ method, path }))),
  ]
}

const rpc = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: fc.oneof(fc.nat(), anyText),
  method: fc.constantFrom('initialize', 'tools/list', 'tools/call', 'ping', 'server/discover', 'x'),
  params: anyJson,
})
const form = fc
  .record({ name: anyText, password: fc.constant(PASSWORD), code: anyText, client_id: anyText })
  .map((fields) =>
    String(
      new URLSearchParams(
        Object.entries(fields).map(([name, value]): [string, string] => [
          name,
          value.toWellFormed(),
        ]),
      ),
    ),
  )
const call = fc.record({ name: fc.constant('test__echo'), arguments: anyJson })
const secretBody = fc.record({ name: anyText, password: fc.constant(PASSWORD), message: anyText })

/** Where a credential stands, right or wrong. The numbers choose from what is made at the start. */
const credential = fc.oneof(
  { weight: 6, arbitrary: fc.nat().map((at) => (all: readonly string[]) => all[at % all.length]) },
  { weight: 1, arbitrary: fc.constant(() => undefined) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.nat(), fc.nat(), anyText).map(([at, cut, more]) => {
      return (all: readonly string[]) => {
        const text = all[at % all.length] ?? ''
        return headerText(text.slice(0, cut % (text.length + 1)) + more)
      }
    }),
  },
)

/** What a header can hold. */
function headerText(text: string): string {
  return text.replaceAll(/[^\u0020-\u007E]/g, '?').trim()
}

const request = fc.record({
  route: fc.nat(),
  id: anyText,
  query: fc.oneof(fc.constant(`ticket=${TICKET}`), fc.constant(''), anyText),
  authorization: credential,
  cookie: fc.oneof(fc.constant(`__Host-session=${COOKIE}; mcp=${COOKIE}`), anyText),
  hasCookie: fc.boolean(),
  accept: fc.constantFrom(
    '*/*',
    'application/json',
    'text/html',
    'application/json, text/event-stream',
  ),
  type: fc.oneof(
    { weight: 5, arbitrary: fc.constant('application/json') },
    fc.constantFrom('application/x-www-form-urlencoded', 'text/plain', 'image/png'),
  ),
  body: fc.oneof(
    bytesLike(rpc),
    bytesLike(call),
    bytesLike(secretBody),
    form.map((text) => Buffer.from(text)),
  ),
})
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never
const frame = fc.record({ frame: textLike(fc.oneof(upFrame, rpc)), isMcp: fc.boolean() })

let inputs = 0
const answers = new Map<number, number>()

async function send(given: Request): Promise<void> {
  const { method = 'GET', path = '/' } = paths[given.route % paths.length] ?? {}
  const id = encodeURIComponent(given.id.toWellFormed())
  const query =
    given.query === '' ? '' : `?${encodeURI(given.query.toWellFormed()).replaceAll('#', '%23')}`
  const authorization = given.authorization(credentials)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const response = await fetch(`${url}${path.replaceAll(/\{[^}]+\}/g, id)}${query}`, {
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(READ_LIMIT_MS),
    headers: {
      accept: given.accept,
      ...(authorization === undefined ? {} : { authorization }),
      ...(given.hasCookie ? { cookie: headerText(given.cookie) } : {}),
      ...(hasBody ? { 'content-type': given.type } : {}),
    },
    ...(hasBody ? { body: new Uint8Array(given.body) } : {}),
  })
  await response.body?.cancel()
  const { status } = response
  answers.set(status, (answers.get(status) ?? 0) + 1)
  inputs++
  expect([method, path, status], 'no 5xx but 503').toEqual([
    method,
    path,
    status === 503 ? 503 : expect.toSatisfy((code: number) => code < 500),
  ])
}

/** Sends frames on a socket for chats, and one for MCP, of a valid credential. */
async function sendFrames(frames: readonly { frame: string; isMcp: boolean }[]): Promise<void> {
  const headers = { authorization: credentials[0] ?? '' }
  using chat = await ChatSocket.open({ url, headers })
  // Node takes options in this place, which the type of browsers lacks.
  const options = { headers, protocols: ['mcp'] } as unknown as string[]
  const mcp = new WebSocket(`${url.replace('http', 'ws')}/mcp/ws`, options)
  await new Promise((resolve, reject) => {
    mcp.addEventListener('open', resolve)
    mcp.addEventListener('error', reject)
  })
  for (const { frame: text, isMcp } of frames) {
    if (isMcp) mcp.send(text)
    else chat.socket.send(text)
    inputs++
  }
  chat.send({ type: 'ping' })
  await chat.waitFor(({ type }) => type === 'pong')
  mcp.close()
}

test('a host with AUTH=keys,local,oidc survives every input, and logs no secret', async () => {
  const share = BATCH / 5
  const batch = fc.tuple(
    fc.array(request, { minLength: BATCH - share, maxLength: BATCH - share }),
    fc.array(frame, { minLength: share, maxLength: share }),
  )
  const options =
    FUZZ_INPUTS === undefined
      ? {}
      : { numRuns: Math.ceil(Number(FUZZ_INPUTS) / BATCH), interruptAfterTimeLimit: 7_200_000 }
  await fc.assert(
    fc.asyncProperty(batch, async ([requests, frames]) => {
      await Promise.all([...requests.map(send), sendFrames(frames)])
    }),
    { ...options, timeout: 2 * READ_LIMIT_MS, endOnFailure: true },
  )
  const counts = Object.fromEntries(Array.from(answers).toSorted(([one], [other]) => one - other))
  process.stdout.write(`fuzz: ${inputs} inputs, answers ${JSON.stringify(counts)}\n`)
  const health = (await (await fetch(`${stack.url}/health`)).json()) as { pid: number }
  expect(health.pid).toBe(pids['gateway'])
  // Logs are written in pieces.
  await delay(500)
  const secrets = [PASSWORD, COOKIE, TICKET, PROVIDER_KEY]
  for (const each of credentials) secrets.push(each.slice(-40))
  for (const name of SERVICES) {
    const log = await stack.log(name)
    expect(log, name).toContain('"message":"ready"')
    expect(log, name).not.toContain('a fault of ours')
    for (const secret of secrets)
      expect(log.includes(secret), `${name} logs ${secret.slice(0, 12)}`).toBe(false)
  }
})
