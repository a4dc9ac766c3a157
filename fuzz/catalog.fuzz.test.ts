import { decode } from '../packages/bus/src/codec.ts'
import { CatalogEntries } from '../packages/bus/src/catalog-entries.ts'
import { CatalogEntry, LOCAL, viewServers } from '@mcp-host/contracts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { capabilities } from '../services/gateway/src/status-summary.ts'
import { VirtualServers } from '../services/gateway/src/mcp/virtual-servers.ts'
import { offeredTools } from '../services/orchestrator/src/tools/tool-names.ts'
import { anyJson, anyText, bytesLike } from './arbitraries.ts'

const token = fc.oneof(
  fc.constantFrom('a', 'a__b', 'b', 'constructor', '__proto__', 'toString'),
  fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
)
const itemName = fc.oneof(fc.constantFrom('add', 'add', 'b__add', 'x'), anyText)
const item = { name: itemName, title: anyText, description: anyText, _meta: anyJson }
const tool = fc.record(
  {
    ...item,
    inputSchema: fc.oneof(
      fc.constant({ type: 'object' }),
      fc.dictionary(anyText, anyJson, { maxKeys: 3 }),
    ),
    annotations: fc.record({ readOnlyHint: anyJson, destructiveHint: anyJson }),
  },
  { requiredKeys: ['name', 'inputSchema'] },
)
const list = <T>(items: fc.Arbitrary<T>) => fc.array(items, { maxLength: 4 })

const server = fc.record(
  {
    kind: fc.constant('server'),
    server: token,
    supervisor: token,
    state: fc.constantFrom('ready', 'ready', 'starting', 'unavailable', 'shutdown'),
    scope: fc.constantFrom('shared', 'session'),
    placement: fc.constantFrom('one', 'every'),
    era: anyText,
    error: anyText,
    capabilities: fc.dictionary(anyText, anyJson, { maxKeys: 3 }),
    instructions: anyText,
    tools: list(tool),
    prompts: list(fc.record({ ...item, arguments: anyJson }, { requiredKeys: ['name'] })),
    resources: list(fc.record({ ...item, uri: anyText }, { requiredKeys: ['name', 'uri'] })),
    resourceTemplates: list(
      fc.record(
        { ...item, uriTemplate: fc.oneof(anyText, fc.constant('mem://{id}{?a,b}{id}')) },
        { requiredKeys: ['name', 'uriTemplate'] },
      ),
    ),
    announcedAt: fc.dictionary(anyText, fc.integer(), { maxKeys: 2 }),
    stored: fc.constant({ key: 'k', bytes: 1, digest: 'd' }),
    revision: fc.nat(),
  },
  { requiredKeys: ['kind', 'server', 'supervisor', 'state', 'tools'] },
)
const supervisor = fc.record(
  {
    kind: fc.constant('supervisor'),
    id: token,
    startedAt: fc.nat(),
    servers: fc.dictionary(token, fc.constant({ calls: 1, errors: 0, inFlight: 0 })),
    configured: fc.array(anyText),
  },
  { requiredKeys: ['kind', 'id', 'startedAt', 'servers'] },
)
const model = fc.record({ kind: fc.constant('model'), provider: anyText, model: anyText })
const entry = fc.oneof({ weight: 4, arbitrary: server }, supervisor, model)

/** Supervisors refuse deeper nesting, so readers need not write such values again. */
const READABLE_DEPTH = 2_000
const tooDeep = ['[', '{"a":'].map((begin) => begin.repeat(READABLE_DEPTH + 1))
const bytesOf = (values: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> =>
  bytesLike(values).filter((bytes) => !tooDeep.some((deep) => bytes.includes(deep)))

/** An entry as the bus decodes it; undefined if the bus refuses it. */
function read(bytes: Buffer): CatalogEntry | undefined {
  try {
    return decode(CatalogEntry, bytes, 'entry')
  } catch (error) {
    expect(error).toMatchObject({ name: 'BusError', code: 'invalid' })
    return undefined
  }
}

test('all readers of the catalog accept whatever supervisors write', async () => {
  const lists = bytesOf(fc.record({ tools: list(tool) }))
  await fc.assert(
    fc.asyncProperty(fc.array(bytesOf(entry), { maxLength: 6 }), lists, async (all, stored) => {
      const view = new CatalogEntries({
        blobs: { get: async () => new Uint8Array(stored) },
        withLists: true,
        isClosed: () => true,
        warn: () => undefined,
      })
      const virtualServers = new VirtualServers(view)
      for (const [index, bytes] of all.entries()) {
        const decoded = read(bytes)
        if (decoded === undefined) continue
        const isServer = decoded.kind === 'server'
        view.put(`key${index}`, isServer ? { ...decoded, revision: index } : decoded)
      }
      await view.settled()
      const views = viewServers(view.entries.values())
      const offered = offeredTools(views)
      expect(new Set(offered.map(({ safeName }) => safeName)).size).toBe(offered.length)
      for (const { safeName } of offered) expect(safeName).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
      capabilities(view).summary(LOCAL, () => undefined)
      capabilities(view).welcome(() => false)
      const listings = [
        virtualServers.all(),
        ...views.map(({ server: name }) => virtualServers.server(name)),
      ]
      for (const virtualServer of listings) {
        for (const name of ['tools', 'prompts', 'resources', 'resourceTemplates'] as const) {
          for (const era of ['legacy', 'modern'] as const) {
            const page = virtualServer?.listing.page(name, undefined, era)
            if (page !== undefined) JSON.parse(`{${page}}`)
          }
        }
      }
    }),
  )
})

test('an entry is decoded or refused as invalid', () => {
  fc.assert(
    fc.property(bytesOf(entry), (bytes) => {
      const once = read(bytes)
      fc.pre(once !== undefined)
      // A number too large for JSON is not written as it was read.
      const written = JSON.stringify(once)
      expect(JSON.stringify(read(Buffer.from(written)))).toEqual(written)
    }),
  )
})
