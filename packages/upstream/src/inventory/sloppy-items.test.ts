import { specTypeSchemas } from '@modelcontextprotocol/client'
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import type * as z from 'zod'

import { LEGACY, MemoryEndpoint, MODERN } from '../../test/memory-endpoint.ts'
import { openConnection } from '../../test/open-connection.ts'
import { MESSAGE_LIMITS } from '../intake/message-limits.ts'
import { silentLogger } from '@mcp-host/process'
import { Inventory } from './inventory.ts'

const LISTS = {
  tools: {
    method: 'tools/list',
    v1: ListToolsResultSchema,
    v2: specTypeSchemas.ListToolsResult,
    good: { name: 'good', inputSchema: { type: 'object' } },
  },
  prompts: {
    method: 'prompts/list',
    v1: ListPromptsResultSchema,
    v2: specTypeSchemas.ListPromptsResult,
    good: { name: 'good' },
  },
  resources: {
    method: 'resources/list',
    v1: ListResourcesResultSchema,
    v2: specTypeSchemas.ListResourcesResult,
    good: { uri: 'good:', name: 'good' },
  },
  resourceTemplates: {
    method: 'resources/templates/list',
    v1: ListResourceTemplatesResultSchema,
    v2: specTypeSchemas.ListResourceTemplatesResult,
    good: { uriTemplate: 'good:{a}', name: 'good' },
  },
} as const
type ListName = keyof typeof LISTS

/** What is listed of an item that precedes a well-formed one. */
async function listed(
  list: ListName,
  sloppy: unknown,
  handlers = LEGACY,
): Promise<{ items: unknown[]; warnings: object[] }> {
  const { method, good } = LISTS[list]
  const endpoint = new MemoryEndpoint({ ...handlers, [method]: () => ({ [list]: [sloppy, good] }) })
  const connection = await openConnection(endpoint)
  const warnings: object[] = []
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) }
  const inventory = new Inventory(
    connection,
    { logger, onChange: () => undefined, now: Date.now },
    { filter: {}, timeoutMs: 1000, limits: MESSAGE_LIMITS },
  )
  await inventory.load(new AbortController().signal)
  const items = [...inventory[list].values()]
  expect(items.at(-1)).toEqual(good)
  return { items: items.slice(0, -1), warnings }
}

/** Throws the error of a client of either version of the SDK. */
function checkWithSdks(list: ListName, items: readonly unknown[]): void {
  const { v1, v2 } = LISTS[list]
  const result: unknown = JSON.parse(JSON.stringify({ [list]: items }))
  ;(v1 as z.ZodType).parse(result)
  expect(v2['~standard'].validate(result)).not.toHaveProperty('issues')
}

const tool = (fields: object): object => ({ name: 't', inputSchema: { type: 'object' }, ...fields })
const schema = (inputSchema: unknown): object => ({ name: 't', inputSchema })
const resource = (fields: object): object => ({ uri: 'r:', name: 'r', ...fields })
const object = { type: 'object' }
const anyOf = [{ required: ['a'] }, { required: ['b'] }]

test.each<[what: string, list: ListName, sloppy: object, corrected: object]>([
  ['an empty input schema', 'tools', schema({}), schema(object)],
  ['no input schema', 'tools', { name: 't' }, schema(object)],
  ['an input schema of null', 'tools', schema(null), schema(object)],
  ['an input schema of true', 'tools', schema(true), schema(object)],
  ['alternatives without a type', 'tools', schema({ anyOf }), schema({ anyOf, ...object })],
  ['several types', 'tools', schema({ type: ['object', 'null'] }), schema(object)],
  ['a type in capitals', 'tools', schema({ type: 'OBJECT' }), schema(object)],
  ['any type', 'tools', schema({ type: 'any' }), schema(object)],
  ['properties of null', 'tools', schema({ ...object, properties: null }), schema(object)],
  [
    'properties with invalid schemas',
    'tools',
    schema({ ...object, properties: { a: true, b: false, c: null, d: 'string' } }),
    schema({ ...object, properties: { a: {}, b: { not: {} }, c: {}, d: {} } }),
  ],
  [
    'a single required name',
    'tools',
    schema({ ...object, required: 'a' }),
    schema({ ...object, required: ['a'] }),
  ],
  ['an output schema of null', 'tools', tool({ outputSchema: null }), tool({})],
  ['an empty output schema', 'tools', tool({ outputSchema: {} }), tool({ outputSchema: object })],
  ['texts of null', 'tools', tool({ title: null, description: null, _meta: null }), tool({})],
  [
    'annotations of null',
    'tools',
    tool({ annotations: null, execution: null, icons: null }),
    tool({}),
  ],
  [
    'an annotation as a string',
    'tools',
    tool({ annotations: { readOnlyHint: 'true', destructiveHint: null } }),
    tool({ annotations: { readOnlyHint: true } }),
  ],
  [
    'a single icon size',
    'tools',
    tool({ icons: [{ src: 'a', sizes: '48x48' }] }),
    tool({ icons: [{ src: 'a', sizes: ['48x48'] }] }),
  ],
  ['metadata of null', 'prompts', { name: 'p', _meta: null }, { name: 'p' }],
  ['arguments of null', 'prompts', { name: 'p', arguments: null }, { name: 'p' }],
  [
    'a string for required',
    'prompts',
    { name: 'p', arguments: [{ name: 'a', required: 'true', description: null }] },
    { name: 'p', arguments: [{ name: 'a', required: true }] },
  ],
  ['a size as a string', 'resources', resource({ size: '12' }), resource({ size: 12 })],
  ['no name', 'resources', { uri: 'r:' }, { uri: 'r:', name: 'r:' }],
  ['a title alone', 'resources', { uri: 'r:', title: 'R' }, { uri: 'r:', title: 'R', name: 'R' }],
  ['a type of null', 'resources', resource({ mimeType: null, _meta: null }), resource({})],
  [
    'a single audience and a priority as a string',
    'resources',
    resource({ annotations: { audience: 'user', priority: '0.5' } }),
    resource({ annotations: { audience: ['user'], priority: 0.5 } }),
  ],
  [
    'no name',
    'resourceTemplates',
    { uriTemplate: 'r:{a}', annotations: null },
    { uriTemplate: 'r:{a}', name: 'r:{a}' },
  ],
])('%s in %s is corrected without a warning', async (_, list, sloppy, corrected) => {
  const { items, warnings } = await listed(list, sloppy)
  expect(items).toEqual([corrected])
  checkWithSdks(list, items)
  expect(warnings).toEqual([])
})

test.each<[what: string, list: ListName, sloppy: object, rest: object, dropped: string[]]>([
  [
    'an annotation',
    'tools',
    tool({ annotations: { readOnlyHint: 'perhaps', x: 1 } }),
    tool({ annotations: { x: 1 } }),
    ['annotations.readOnlyHint'],
  ],
  [
    'required',
    'tools',
    schema({ ...object, required: true }),
    schema(object),
    ['inputSchema.required'],
  ],
  [
    'properties',
    'tools',
    schema({ ...object, properties: [] }),
    schema(object),
    ['inputSchema.properties'],
  ],
  [
    'the dialect',
    'tools',
    schema({ ...object, $schema: 7 }),
    schema(object),
    ['inputSchema.$schema'],
  ],
  [
    'metadata',
    'tools',
    tool({ _meta: ['a'], execution: { taskSupport: 'no' } }),
    tool({ execution: {} }),
    ['_meta', 'execution.taskSupport'],
  ],
  [
    'icons',
    'tools',
    tool({ icons: [{ theme: 'pink' }, { src: 'a', theme: 'pink' }, 'b'] }),
    tool({ icons: [{ src: 'a' }] }),
    ['icons[0]', 'icons[0].theme', 'icons[1]'],
  ],
  [
    'an argument without a name',
    'prompts',
    { name: 'p', arguments: [{ description: 'a' }, { name: 'b' }] },
    { name: 'p', arguments: [{ name: 'b' }] },
    ['arguments[0]'],
  ],
  ['the size', 'resources', resource({ size: 'large' }), resource({}), ['size']],
  [
    'annotations',
    'resources',
    resource({
      annotations: { priority: 'high', audience: ['model', 'user'], lastModified: 'today' },
    }),
    resource({ annotations: { audience: ['user'] } }),
    ['annotations.audience[0]', 'annotations.priority', 'annotations.lastModified'],
  ],
  [
    'a priority out of range',
    'resourceTemplates',
    { uriTemplate: 't:{a}', name: 't', annotations: { priority: 10 } },
    { uriTemplate: 't:{a}', name: 't', annotations: {} },
    ['annotations.priority'],
  ],
])(
  'an invalid field (%s) of %s is dropped with a warning',
  async (_, list, sloppy, rest, dropped) => {
    const { items, warnings } = await listed(list, sloppy)
    expect(items).toEqual([rest])
    checkWithSdks(list, items)
    expect(warnings).toEqual([{ list, item: expect.stringMatching(/^(t|p|r:|t:\{a\})$/), dropped }])
  },
)

test.each<[list: ListName, sloppy: unknown, item: string]>([
  ['tools', { name: 5, inputSchema: object }, '#1'],
  ['tools', { name: '', inputSchema: object }, ''],
  ['tools', schema({ type: 'array' }), 't'],
  ['tools', schema('object'), 't'],
  ['tools', schema({ ...object, required: Array(200).fill(1) }), 't'],
  ['tools', null, '#1'],
  ['prompts', { title: 'p' }, '#1'],
  ['resources', { name: 'r' }, 'r'],
  ['resourceTemplates', { name: 't', uriTemplate: null }, 't'],
])('an invalid item of %s is left out without affecting others: %j', async (list, sloppy, item) => {
  const { items, warnings } = await listed(list, sloppy)
  expect(items).toEqual([])
  expect(warnings).toEqual([{ list, item, faults: expect.arrayContaining([expect.any(String)]) }])
})

test('the output schema of a modern server need not be an object', async () => {
  const outputSchema = { anyOf: [{ type: 'array' }, { type: 'object' }] }
  const { items } = await listed('tools', tool({ outputSchema }), MODERN)
  expect(items).toEqual([tool({ outputSchema })])
})

test('a well-formed item is listed unchanged, with unknown fields', async () => {
  const good = {
    'x-own': [null],
    inputSchema: {
      $schema: 's',
      required: ['a'],
      type: 'object',
      properties: { a: { type: 'any' } },
    },
    name: 't',
    _meta: { a: null },
  }
  const { items } = await listed('tools', good)
  expect(JSON.stringify(items)).toBe(JSON.stringify([good]))
})

const NAMED = {
  tools: (name: string) => ({ name, inputSchema: { type: 'object' } }),
  prompts: (name: string) => ({ name }),
  resources: (uri: string) => ({ uri, name: 'r' }),
  resourceTemplates: (uriTemplate: string) => ({ uriTemplate, name: 'r' }),
} as const
const LIST_NAMES = Object.keys(NAMED) as ListName[]

test.each<[what: string, name: string, shown: string, reason: string]>([
  ['a line break', 'delete\nall', 'delete\\u{a}all', 'control characters'],
  ['a carriage return', 'a\rb', 'a\\u{d}b', 'control characters'],
  ['NUL', 'a\u0000', 'a\\u{0}', 'control characters'],
  ['a tab', 'a\tb', 'a\\u{9}b', 'control characters'],
  ['an escape sequence', '\u001b[2Ja', '\\u{1b}[2Ja', 'control characters'],
  ['an escape sequence of one character', '\u009b2Ja', '\\u{9b}2Ja', 'control characters'],
  ['DEL', 'a\u007f', 'a\\u{7f}', 'control characters'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b', 'control characters'],
  ['a change of writing direction', 'a\u202eb', 'a\\u{202e}b', 'control characters'],
  ['a high surrogate alone', 'a\ud800', 'a\\u{d800}', 'valid Unicode'],
  ['a low surrogate alone', '\udc00a', '\\u{dc00}a', 'valid Unicode'],
  ['100 KB', 'n'.repeat(100_000), `${'n'.repeat(100)}… (100000 characters)`, '4096 characters'],
])(
  'a name with %s is refused with a warning that shows it escaped',
  async (_, name, shown, reason) => {
    for (const list of LIST_NAMES) {
      const { items, warnings } = await listed(list, NAMED[list](name))
      expect(items).toEqual([])
      const item = { list, item: shown, reason: expect.stringContaining(reason) }
      expect(warnings).toEqual([expect.objectContaining(item)])
    }
  },
)

test.each([
  'a b',
  'a/b',
  'a.b',
  'größe',
  '検索',
  'a👍🏽b',
  'e\u0301',
  'عربي\u200f',
  '"quoted"',
  '<b>',
  'n'.repeat(4_096),
])('the name %s is listed unchanged', async (name) => {
  for (const list of LIST_NAMES) {
    const { items, warnings } = await listed(list, NAMED[list](name))
    expect([items, warnings]).toEqual([[NAMED[list](name)], []])
  }
})

test('a resource whose display name has escape sequences is listed by its URI', async () => {
  const { items } = await listed('resources', { uri: 'r:', name: '\u001b[2J' })
  expect(items).toEqual([{ uri: 'r:', name: 'r:' }])
})

test('a name whose validation throws affects no other tool', async () => {
  const { items } = await listed('tools', { name: { length: { toString: '' } }, inputSchema: {} })
  expect(items).toEqual([])
})
