import { expect, test } from 'vitest'
import type { Bundle } from './bundle.ts'
import { bundleListing } from './bundle.ts'
import type { JsonRpcRequest } from '../messages/classify.ts'
import type { MergedListing } from './merged-listing.ts'
import type { ServerListing, ItemAddress } from './server-listing.ts'
import { routeRequest, routeResource } from '../route/route-request.ts'

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
])(
  'names with the setting %s have the prefix of their server as configured',
  (names, tools, prompts) => {
    const bundle = names === undefined ? {} : { names }
    expect([namesOf(bundle), namesOf(bundle, 'prompts')]).toEqual([tools, prompts])
  },
)

test('a bundle has its configured servers with their allowed tools', () => {
  const servers = { files: { allow: ['*r*'], deny: ['w*'] }, gone: {} }
  expect(namesOf({ names: 'never', servers })).toEqual(['read', 'search'])
  expect(bundleListing({ servers }, serverListings).tool('files__write')).toBeUndefined()
  expect(namesOf({ names: 'never', servers: { web: { allow: [] } } })).toEqual([])
})

test('tools of a bundle are renamed and described as configured', () => {
  const web = { rename: { search: 'look', greet: 'hi' }, describe: { search: 'Looks.' } }
  const bundle: Bundle = { servers: { files: {}, web } }
  const listing = bundleListing(bundle, serverListings)
  expect(listing.tool('look')).toEqual({ server: 'web', name: 'search' })
  expect(listing.prompt('hi')).toEqual({ server: 'web', name: 'greet' })
  expect(listed(bundle)[3]).toEqual({ name: 'look', description: 'Looks.', 'x-more': 1 })
  // The renamed tool does not collide with the name.
  expect(namesOf({ ...bundle, names: 'on-collision' })).toContain('search')
})

test('prompts and resources can be excluded from a bundle', () => {
  const servers = { files: { prompts: false, resources: false } }
  expect(listed({ servers }, 'prompts')).toEqual([])
  expect(listed({ servers }, 'resources')).toEqual([])
  expect(listed({ servers: { files: {} } }, 'resources')).toHaveLength(1)
})

test.each(['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'])(
  'the name %s is not found unless the bundle has it',
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
])('excluded resources are not routed by %s with %j', (method, params) => {
  const capabilities = { resources: { subscribe: true } }
  const all = serverListings.map((each) => ({ ...each, capabilities }))
  const listing = bundleListing({ servers: { files: { resources: false }, web: {} } }, all)
  const address = addressOf({ method, params }, listing)
  expect(address?.server).not.toBe('files')
  expect(addressOf({ method, params }, bundleListing({}, all))?.server).toBe('files')
  const updated = listing.with(new Map(all.map((each) => [each.server, each])))
  expect(addressOf({ method, params }, updated)?.server).not.toBe('files')
})

type Request = Pick<JsonRpcRequest, 'method' | 'params'>

function addressOf({ method, params }: Request, listing: MergedListing): ItemAddress | undefined {
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

test('excluded lists do not shorten the caching of the others', () => {
  const open = { ttlMs: 9, cacheScope: 'public' } as const
  const unset = { ttlMs: 0, cacheScope: 'private' } as const
  const [files, web] = serverListings as [ServerListing, ServerListing]
  const known = [
    { ...files, caching: { tools: open, prompts: open } },
    { ...web, caching: { tools: open, prompts: unset } },
  ]
  const cachings = (bundle: Bundle) =>
    (['tools', 'prompts'] as const).map((list) => bundleListing(bundle, known).caching(list))
  expect(cachings({})).toEqual([open, unset])
  expect(cachings({ servers: { files: {}, web: { prompts: false } } })).toEqual([open, open])
})
