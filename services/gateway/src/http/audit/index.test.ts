import { createHash } from 'node:crypto'
import type { AuditMessage } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import { LOCAL } from '@mcp-host/contracts'
import type { FastifyError, FastifyInstance } from 'fastify'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { replyError } from '../../edge/error-reply.ts'
import { addAuditRoutes } from './index.ts'

let app: FastifyInstance
let messages: AuditMessage[]
let principal: Principal
let isOn: boolean
let backSince: Date | undefined

const as = (id: string, ...roles: string[]): Principal => ({ ...LOCAL, id, roles })
const auditor = as('user:eve', 'auditor')

function entry(seq: number, more: object): string {
  const time = new Date(Date.UTC(2026, 10, 25, 8, seq)).toISOString()
  return JSON.stringify({
    seq,
    prev: 'p',
    time,
    action: 'tool-started',
    principal: 'user:ann',
    ...more,
  })
}

beforeEach(() => {
  principal = auditor
  isOn = true
  messages = [
    {
      seq: 3,
      writer: 'mcp-supervisor-a',
      entries: [
        entry(1, {
          server: 'files',
          tool: 'read',
          arguments: { path: 'needle' },
          argumentsHash: 'h1',
        }),
        entry(2, { principal: 'user:bob', server: 'files', tool: 'write', outcome: 'ok' }),
      ],
    },
    {
      seq: 9,
      writer: 'gateway-b',
      entries: [entry(3, { server: 'pay', tool: 'send', outcome: 'denied' })],
    },
  ]
  const read = async function* ({ from = 0 }: { from?: number } = {}) {
    for (const message of messages) if (message.seq >= from) yield message
  }
  const readBack = async function* ({
    from = Infinity,
    since,
  }: { from?: number; since?: Date } = {}) {
    backSince = since
    for (const message of messages.toReversed()) if (message.seq <= from) yield message
  }
  app = fastify()
  app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  app.setErrorHandler((error: FastifyError, _, reply) =>
    replyError(reply, error, error.validation === undefined ? undefined : 400),
  )
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => {
    request.principal = principal
  })
  // Only what the route uses.
  const bus = { audit: { read, readBack } } as unknown as Parameters<
    typeof addAuditRoutes
  >[1]['bus']
  addAuditRoutes(app.withTypeProvider<ZodTypeProvider>(), {
    bus,
    audit: {
      get isOn() {
        return isOn
      },
    },
  })
})
afterEach(() => app.close())

async function search(query: Readonly<Record<string, string>> = {}) {
  const response = await app.inject({ url: `/audit?${String(new URLSearchParams(query))}` })
  const body = response.json<{ entries: { seq: number }[]; next?: string }>()
  return { status: response.statusCode, seqs: body.entries?.map(({ seq }) => seq), ...body }
}

test.each<[Readonly<Record<string, string>>, number[]]>([
  [{}, [1, 2, 3]],
  [{ principal: 'user:b*' }, [2]],
  [{ server: 'files', tool: 'r*' }, [1]],
  [{ outcome: 'denied' }, [3]],
  [{ since: '2026-11-25T08:02:00Z' }, [2, 3]],
  [{ until: '2026-11-25T10:02:00+02:00' }, [1, 2]],
  [{ text: 'needle' }, [1]],
])('entries are found by %o', async (query, seqs) => {
  expect(await search(query)).toMatchObject({ status: 200, seqs })
})

test('pages follow each other to the end', async () => {
  const pages: (readonly number[])[] = []
  let next: string | undefined
  do {
    const page = await search({ limit: '1', ...(next === undefined ? {} : { after: next }) })
    pages.push(page.seqs)
    next = page.next
  } while (next !== undefined)
  expect(pages).toEqual([[1], [2], [3], []])
})

test('one request reads 20,000 entries, and says where to go on', async () => {
  const many = Array.from({ length: 25_000 }, (_, index) => entry(1, { action: `a${index}` }))
  messages = [{ seq: 1, writer: 'w', entries: many }]
  // A search also ends after some time, on a busy machine before it has read so many.
  using _clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  const first = await search({ action: 'a24999' })
  expect(first).toMatchObject({ seqs: [], next: '1.19999' })
  expect(await search({ action: 'a24999', after: first.next ?? '' })).toMatchObject({ seqs: [1] })
})

test('arguments are for auditors alone, and are not searched for others', async () => {
  expect(JSON.stringify(await search())).toContain('needle')
  for (const other of [as('user:root', 'admin'), as('user:ann', 'user')]) {
    principal = other
    const found = await search({ server: 'files' })
    expect(JSON.stringify(found)).toContain('h1')
    expect(JSON.stringify(found)).not.toContain('needle')
    expect((await search({ text: 'needle' })).seqs).toEqual([])
  }
})

test('an admin sees all entries, a user its own', async () => {
  principal = as('user:root', 'admin')
  expect((await search()).seqs).toEqual([1, 2, 3])
  principal = as('user:bob', 'user')
  expect((await search()).seqs).toEqual([2])
  expect((await search({ principal: 'user:ann' })).seqs).toEqual([])
  // A credential without the scope is worth no more than that of a user.
  principal = { ...auditor, scopes: ['mcp'] }
  expect((await search()).seqs).toEqual([])
})

test('faulty queries, and a host without an audit log, are explained', async () => {
  expect((await search({ since: 'yesterday' })).status).toBe(400)
  expect((await search({ after: 'x' })).status).toBe(400)
  isOn = false
  expect((await search()).status).toBe(404)
})

test('pages of the newest entries follow each other to the oldest one', async () => {
  const pages: (readonly number[])[] = []
  let next: string | undefined
  do {
    const after = next === undefined ? {} : { after: next }
    const page = await search({ order: 'newest', limit: '2', ...after })
    pages.push(page.seqs)
    next = page.next
  } while (next !== undefined)
  expect(pages).toEqual([[3, 2], [1]])
  await search({ order: 'newest', since: '2026-11-25T08:02:00Z' })
  expect(backSince).toEqual(new Date('2026-11-25T08:02:00Z'))
})

async function verify() {
  const response = await app.inject({ url: '/audit/verification' })
  return response.json<object>()
}

test('a verification counts entries and writers, and lists the faults of their chains', async () => {
  let before = 'gateway-b'
  const entries = [1, 2, 3].map((seq) => {
    before = entry(seq, { prev: createHash('sha256').update(before).digest('hex') })
    return before
  })
  messages = [{ seq: 1, writer: 'gateway-b', entries }]
  const about = { entries: 3, writers: 1, isComplete: true }
  const unfinished = { kind: 'unfinished', writer: 'gateway-b', seq: 3 }
  expect(await verify()).toMatchObject({ ...about, faultCount: 1, faults: [unfinished] })
  messages = [{ seq: 1, writer: 'gateway-b', entries: [entries[0]!, entries[2]!] }]
  expect(await verify()).toMatchObject({
    ...about,
    entries: 2,
    faultCount: 2,
    faults: [{ kind: 'removed', seq: 2, count: 1 }, unfinished],
  })
})

test('one verification runs at a time, and a host without an audit log has none', async () => {
  const both = await Promise.all([verify(), verify()])
  expect(both).toContainEqual({ error: expect.objectContaining({ code: 'exhausted' }) })
  expect(await verify()).toMatchObject({ isComplete: true })
  isOn = false
  expect(await verify()).toMatchObject({ error: { code: 'not-found' } })
})
