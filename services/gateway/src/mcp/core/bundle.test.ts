import { expect, test } from 'vitest'
import type { Bundle } from './bundle.ts'
import { bundleListing } from './bundle.ts'
import type { JsonRpcRequest } from './classify.ts'
import type { MergedListing } from './merged-listing.ts'
import type { ServerListing, ItemAddress } from './server-listing.ts'
import { routeRequest, routeResource } from './route-request.ts'

const named = (...names: string[]) =>
  names.map((name) => ({ name, description: `${name}!`, 'x-more': 1 }))

const serverListings: ServerListing[] = [
  {
    server: 'files',
    tools: named('read', 'write', 'search'),
    prompts: named('greet'),
    resources: [{ uri: 'file://a', name: 'a' }],
    resourceTemplates: [{ uriTemplate: 'file://{x}', name: 'x' }],
  },
  {
    server: 'web',
    tools: named('search', 'fetch'),
    prompts: named('greet', 'bye'),
    resources: [],
    resourceTemplates: [],
  },
]

function listed(bundle: Bundle, list: 'tools' | 'prompts' | 'resources' = 'tools'): unknown[] {
  const page = bundleListing(bundle, serverListings).page(list, undefined)
  return JSON.parse(`{${page}}`)[list]
}

const namesOf = (bundle: Bundle, list: 'tools' | 'prompts' = 'tools'): string[] =>
  (listed(bundle, list) as { name: string }[]).map(({ name }) => name)

test.each<[Bundle['names'], string[], string[]]>([
  [
    undefined,
    ['files__read', 'files__write', 'files__search', 'web__search', 'web__fetch'],
    ['files__greet', 'web__greet', 'web__bye'],
  ],
  [
    'on-collision',
    ['read', 'write', 'files__search', 'web__search', 'fetch'],
    ['files__greet', 'web__greet', 'bye'],
  ],
  ['never', ['read', 'write', 'search', 'fetch'], ['greet', 'bye']],
])('names that begin with the server: %s', (names, tools, prompts) => {
  const bundle = names === undefined ? {} : { names }
  expect([namesOf(bundle), namesOf(bundle, 'prompts')]).toEqual([tools, prompts])
})

test('it has the servers that it names, and of those the tools that it takes', () => {
  const servers = { files: { allow: ['*r*'], deny: ['w*'] }, gone: {} }
  expect(namesOf({ names: 'never', servers })).toEqual(['read', 'search'])
  expect(bundleListing({ servers }, serverListings).tool('files__write')).toBeUndefined()
  expect(namesOf({ names: 'never', servers: { web: { allow: [] } } })).toEqual([])
})

test('tools have the names and descriptions that it gives them, and lead where they led', () => {
  const web = { rename: { search: 'look', greet: 'hi' }, describe: { search: 'Looks.' } }
  const bundle: Bundle = { servers: { files: {}, web } }
  const listing = bundleListing(bundle, serverListings)
  expect(listing.tool('look')).toEqual({ server: 'web', name: 'search' })
  expect(listing.prompt('hi')).toEqual({ server: 'web', name: 'greet' })
  expect(listed(bundle)[3]).toEqual({ name: 'look', description: 'Looks.', 'x-more': 1 })
  // No other has that name any more.
  expect(namesOf({ ...bundle, names: 'on-collision' })).toContain('search')
})

test('prompts and resources can be left out', () => {
  const servers = { files: { prompts: false, resources: false } }
  expect(listed({ servers }, 'prompts')).toEqual([])
  expect(listed({ servers }, 'resources')).toEqual([])
  expect(listed({ servers: { files: {} } }, 'resources')).toHaveLength(1)
})

test.each(['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'])(
  'the name %s stands for nothing unless the bundle has it',
  (name) => {
    const hostile = [{ server: name, tools: named(name), prompts: named(name), ...NO_RESOURCES }]
    const bundled = (bundle: Bundle): unknown =>
      JSON.parse(`{${bundleListing(bundle, hostile).page('tools', undefined)}}`).tools
    expect(bundled({ servers: {} })).toEqual([])
    const servers = Object.fromEntries([[name, { rename: {}, describe: {} }]])
    expect(bundled({ names: 'never', servers })).toEqual(named(name))
    const own = Object.fromEntries([[name, 'renamed']])
    const renaming = Object.fromEntries([[name, { rename: own, describe: own }]])
    expect(bundled({ servers: renaming })).toMatchObject([
      { name: 'renamed', description: 'renamed' },
    ])
  },
)

test.each<[Request['method'], Request['params']]>([
  ['resources/read', { uri: 'mcp://files/file%3A%2F%2Fa' }],
  ['resources/read', { uri: 'mcp://files/file://a' }],
  ['resources/read', { uri: 'ui://files/ui%3A%2F%2Fpage' }],
  ['resources/read', { uri: 'files.file://a' }],
  ['resources/read', { uri: 'file://a' }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'file://{x}' } }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'mcp://files/file://{x}' } }],
  ['resources/subscribe', { uri: 'mcp://files/file%3A%2F%2Fa' }],
])('hidden resources are not reached by %s of %j', (method, params) => {
  const capabilities = { resources: { subscribe: true } }
  const all = serverListings.map((each) => ({ ...each, capabilities }))
  const listing = bundleListing({ servers: { files: { resources: false }, web: {} } }, all)
  const place = reach({ method, params }, listing)
  expect(place?.server).not.toBe('files')
  expect(reach({ method, params }, bundleListing({}, all))?.server).toBe('files')
  const remade = listing.with(new Map(all.map((each) => [each.server, each])))
  expect(reach({ method, params }, remade)?.server).not.toBe('files')
})

type Request = Pick<JsonRpcRequest, 'method' | 'params'>

function reach({ method, params }: Request, listing: MergedListing): ItemAddress | undefined {
  const request = { kind: 'request', era: 'modern', id: 1, method, params } as const
  try {
    return method === 'resources/subscribe'
      ? routeResource(request, listing)
      : routeRequest(request, listing)?.place
  } catch {
    return undefined
  }
}

const NO_RESOURCES = { resources: [], resourceTemplates: [] }

test('what is left out makes the lists of others no older', () => {
  const open = { ttlMs: 9, cacheScope: 'public' } as const
  const unsaid = { ttlMs: 0, cacheScope: 'private' } as const
  const [files, web] = serverListings as [ServerListing, ServerListing]
  const known = [
    { ...files, caching: { tools: open, prompts: open } },
    { ...web, caching: { tools: open, prompts: unsaid } },
  ]
  const cachings = (bundle: Bundle) =>
    (['tools', 'prompts'] as const).map((list) => bundleListing(bundle, known).caching(list))
  expect(cachings({})).toEqual([open, unsaid])
  expect(cachings({ servers: { files: {}, web: { prompts: false } } })).toEqual([open, open])
})
