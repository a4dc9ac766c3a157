import type { Bus } from '@mcp-host/bus'
import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { BusError, catalogKey, LOCAL } from '@mcp-host/contracts'
import type { FastifyError, FastifyInstance } from 'fastify'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { replyError } from '../../edge/error-reply.ts'
import { addServerRoutes } from './index.ts'

let app: FastifyInstance
let entries: Map<string, CatalogEntry>
/** What happened, in order. */
let events: unknown[]

const supervisor = (id: string): CatalogEntry => ({
  kind: 'supervisor',
  id,
  startedAt: 0,
  servers: {},
})
const server = (name: string, at: string): CatalogEntry => ({
  kind: 'server',
  server: name as ServerName,
  supervisor: at,
  state: 'ready',
  tools: [],
})

beforeEach(() => {
  events = []
  const all = [supervisor('s1'), supervisor('s2'), server('files', 's1'), server('pay', 's2')]
  entries = new Map(all.map((entry) => [catalogKey(entry), entry]))
  const call = async (_: unknown, params: { supervisor: string }, request: object) => {
    events.push([params.supervisor, request])
    if (params.supervisor === 's2') throw new BusError('invalid', 'servers: must be an object')
    if (JSON.stringify(request).includes('read-output')) return { output: ['no disk'] }
    return { reload: { added: ['pay'], changed: [], removed: [], unchanged: ['files'] } }
  }
  app = fastify()
  app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  app.setErrorHandler((error: FastifyError, _, reply) =>
    replyError(reply, error, error.statusCode === 400 ? 400 : undefined),
  )
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => void (request.principal = LOCAL))
  addServerRoutes(app.withTypeProvider<ZodTypeProvider>(), {
    // Only the part of the bus that the routes use.
    // The fake answers every call alike, so its type has no parameter for the kind.
    bus: { call: call as unknown as Bus['call'] },
    catalog: { entries },
    audit: { serversChanged: async (...event) => void events.push(event) },
  })
})
afterEach(() => app.close())

const post = (url: string) => app.inject({ method: 'POST', url })

test('a server is restarted at its supervisors alone, after it was recorded', async () => {
  entries.set('x', server('files', 's2'))
  const { statusCode, body } = await post('/servers/files/restart')
  expect([statusCode, JSON.parse(body)]).toEqual([
    200,
    {
      outcomes: [{ supervisor: 's1' }, { supervisor: 's2', error: 'servers: must be an object' }],
    },
  ])
  const request = { action: 'restart', server: 'files' }
  expect(events).toEqual([
    ['server-restarted', LOCAL, 'files'],
    ['s1', request],
    ['s2', request],
  ])
})

test('a server that does not exist is not found, and nothing is recorded', async () => {
  const { statusCode, body } = await post('/servers/mail/restart')
  expect([statusCode, JSON.parse(body)]).toMatchObject([404, { error: { field: 'server' } }])
  expect(events).toEqual([])
})

test('the output of a server is read at its supervisors, and nothing is recorded', async () => {
  entries.set('x', server('files', 's2'))
  const { statusCode, body } = await app.inject('/servers/files/output')
  expect([statusCode, JSON.parse(body)]).toEqual([
    200,
    {
      outcomes: [
        { supervisor: 's1', output: ['no disk'] },
        { supervisor: 's2', error: 'servers: must be an object' },
      ],
    },
  ])
  const request = { action: 'read-output', server: 'files' }
  expect(events).toEqual([
    ['s1', request],
    ['s2', request],
  ])
  expect((await app.inject('/servers/mail/output')).statusCode).toBe(404)
})

test('a reload tells what it did at each supervisor', async () => {
  const { statusCode, body } = await post('/servers/reload')
  expect([statusCode, JSON.parse(body)]).toEqual([
    200,
    {
      outcomes: [
        { supervisor: 's1', added: ['pay'], changed: [], removed: [], unchanged: ['files'] },
        { supervisor: 's2', error: 'servers: must be an object' },
      ],
    },
  ])
  expect(events[0]).toEqual(['servers-reloaded', LOCAL])
})

test('without a supervisor a reload is not possible', async () => {
  entries.clear()
  expect((await post('/servers/reload')).statusCode).toBe(503)
  expect(events).toEqual([])
})

test('the changed files that cannot be used are listed with their faults, once for all processes', async () => {
  const faults = 'policy.json:2:3: rules.0.effect: must be allow'
  for (const process of ['g1', 'o1']) {
    const at = { setting: 'POLICY_CONFIG', file: 'policy.json', process }
    entries.set(process, { kind: 'file-fault', ...at, faults })
  }
  entries.set('s1', {
    kind: 'supervisor',
    id: 's1',
    startedAt: 0,
    servers: {},
    faults: 'mcp.json:1:2',
  })
  const { files } = (await app.inject('/file-faults')).json()
  const sentence = 'is not taken over, and its contents before stay in effect:'
  expect(files).toEqual([
    { setting: 'POLICY_CONFIG', file: 'policy.json', fault: `policy.json ${sentence} ${faults}` },
    { setting: 'MCP_JSON_PATH', file: 'mcp.json', fault: `mcp.json ${sentence} mcp.json:1:2` },
  ])
})
