import { randomUUID } from 'node:crypto'
import type { Arbitrary } from 'fast-check'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FakeGateway } from '../services/gateway/src/http/__fixtures__/start-fake-gateway.ts'
import { startFakeGateway } from '../services/gateway/src/http/__fixtures__/start-fake-gateway.ts'
import { anyText, bytesLike } from './arbitraries.ts'

let gateway: FakeGateway
beforeAll(async () => {
  gateway = await startFakeGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

const SESSION = 'sessionsessionsession'
/** Bounds the log, whose length is not under test. */
const MAX_ENTRIES = 300
/** An answer that takes longer hangs. The first one may wait until the process has recovered from the test before. */
const READ_LIMIT_MS = 9_000

/** Valid bodies, by the last segment of a path. */
const BODIES: Readonly<Record<string, Arbitrary<unknown>>> = {
  message: fc.record(
    { message: anyText, id: fc.constantFrom('m1', 'm2'), replaces: anyText, model: anyText },
    { requiredKeys: ['message'] },
  ),
  regenerate: fc.record({ messageId: anyText, id: anyText }),
  cancel: fc.record({ messageId: anyText }),
  answer: fc.record({
    id: anyText,
    action: fc.constantFrom('accept', 'decline', 'cancel'),
    content: fc.dictionary(anyText, anyText),
  }),
  session: fc.record({ title: anyText, metadata: fc.dictionary(anyText, anyText), model: anyText }),
  call: fc.record(
    {
      name: fc.constantFrom('a__add', 'a.add', 'b__add', 'constructor'),
      arguments: fc.dictionary(anyText, anyText),
      timeoutMs: fc.nat(),
    },
    { requiredKeys: ['name'] },
  ),
  get: fc.record({ name: fc.constant('a__greet'), arguments: fc.dictionary(anyText, anyText) }),
  read: fc.record({ uri: fc.oneof(anyText, fc.constantFrom('mem://one', 'mem://7/x')) }),
  list: fc.record({ cursor: anyText }),
}

interface Operation {
  readonly method: string
  readonly path: string
}

/** Every route of the API, from its OpenAPI description. */
async function operations(): Promise<Operation[]> {
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  )
}

const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'text/plain',
  'image/png',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=b',
  'multipart/form-data',
]

async function send(
  path: string,
  init: RequestInit,
): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(`${gateway.url}${path}`, {
    ...init,
    signal: AbortSignal.timeout(READ_LIMIT_MS),
  })
  const type = response.headers.get('content-type') ?? ''
  const isStream = type.startsWith('text/event-stream')
  if (isStream) await response.body?.cancel()
  return { status: response.status, type, text: isStream ? '' : await response.text() }
}

function checkAnswer({ status, type, text }: Awaited<ReturnType<typeof send>>): void {
  expect(gateway.errors).toEqual([])
  expect(status).not.toBe(500)
  if (status < 400) return
  expect(type).toContain('application/json')
  const { error } = JSON.parse(text) as { error: { message: string } }
  expect(error.message).not.toBe('')
  expect(error.message.length).toBeLessThan(1_000)
}

/** Maintenance that an earlier case announced would refuse all later messages. */
async function endMaintenance(): Promise<void> {
  await send('/api/maintenance', { method: 'DELETE' })
}

test('every route answers every request with a result or a declared error', async () => {
  const all = await operations()
  const request = fc.constantFrom(...all).chain(({ method, path }) =>
    fc.record({
      method: fc.constant(method),
      path: fc
        .tuple(fc.oneof(fc.constant(SESSION), anyText), fc.option(fc.tuple(anyText, anyText)))
        .map(([id, query]) => {
          const filled = path.replace(/\{[^}]+\}/g, () => encodeURIComponent(id.toWellFormed()))
          const [name, value] = query ?? []
          return query === null
            ? filled
            : `${filled}?${String(new URLSearchParams([[String(name), String(value)]]))}`
        }),
      type: fc.oneof(
        { weight: 4, arbitrary: fc.constant('application/json') },
        fc.constantFrom(...TYPES),
      ),
      body: bytesLike(BODIES[path.split('/').at(-1) ?? ''] ?? fc.constant({})),
    }),
  )
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, type, body }) => {
      // A session that an earlier case deleted would refuse all later requests.
      const isDeleted = gateway.bus.entries.some(
        ({ kind, fact }) => kind === 'control' && fact.type === 'session-deleted',
      )
      if (isDeleted || gateway.bus.entries.length > MAX_ENTRIES) gateway.bus.entries.length = 0
      const hasBody = method !== 'GET' && method !== 'HEAD'
      checkAnswer(
        await send(path, {
          method,
          headers: hasBody ? { 'content-type': type } : {},
          ...(hasBody ? { body: new Uint8Array(body) } : {}),
        }),
      )
      if (path.startsWith('/api/maintenance')) await endMaintenance()
    }),
  )
  gateway.bus.entries.length = 0
  const response = await send(`/api/chat/session/${SESSION}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'hello', id: randomUUID() }),
  })
  expect(response).toMatchObject({ status: 200, type: 'text/event-stream; charset=utf-8' })
})

test('a form is accepted or refused, whatever its parts are', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      '--b',
      '--b--',
      '',
      'Content-Disposition: form-data; name="file"; filename="a.png"',
      'Content-Disposition: form-data; name="file"; filename="a\\"\u0000.png"',
      'Content-Disposition: form-data',
      'Content-Type: image/png',
      'Content-Type: x',
    ),
    anyText,
  )
  const form = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\r\n'))
  const whole = form.map(
    (inner) =>
      `--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n${inner}\r\n--b--\r\n`,
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(form, whole), async (text) => {
      checkAnswer(
        await send(`/api/chat/session/${SESSION}/file`, {
          method: 'POST',
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
          body: text.toWellFormed(),
        }),
      )
    }),
  )
})
