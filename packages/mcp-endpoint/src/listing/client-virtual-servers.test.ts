import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { bundleListing } from './bundle.ts'
import type { VirtualServer } from './virtual-server.ts'
import type { ServerListing } from './server-listing.ts'
import { MergedListing } from './merged-listing.ts'
import { ClientVirtualServers } from './client-virtual-servers.ts'

const serverListing = (server: string, isOwn: boolean, ...tools: string[]): ServerListing => ({
  server,
  isOwn,
  tools: tools.map((name) => ({ name, inputSchema: {} })),
  prompts: [],
  resources: [],
  resourceTemplates: [],
})
const own = serverListing('own', true, 'login')
const shared = serverListing('shared', false, 'add')
const underServer = ({ server, name }: { server: string; name: string }) => `${server}__${name}`

let listing: MergedListing
/** Versions of own lists, by client and server. */
let versions: Map<string, Map<string, string>>
/** Lists of the dedicated processes, by client. */
let lists: Map<string, ServerListing>
let reads: string[]
let read: (client: string) => Promise<ServerListing | undefined>
let changed: Set<() => void>
let virtualServers: ClientVirtualServers
let virtualServer: VirtualServer

const addListener = (listeners: Set<() => void>, each: () => void): Disposable => {
  listeners.add(each)
  return { [Symbol.dispose]: () => void listeners.delete(each) }
}
const change = (): void => changed.forEach((each) => each())

beforeEach(() => {
  vi.useFakeTimers()
  listing = new MergedListing([own, shared], underServer)
  versions = new Map([['ann', new Map([['own', '1']])]])
  lists = new Map([['ann', serverListing('own', true, 'login', 'secret')]])
  reads = []
  read = async (client) => lists.get(client)
  changed = new Set()
  virtualServers = new ClientVirtualServers({
    versions: (client) => versions.get(client),
    onChange: (each) => addListener(changed, each),
    read(server, client) {
      reads.push(`${client} ${server}`)
      return read(client)
    },
  })
  virtualServer = {
    servers: ['own', 'shared'],
    get listing() {
      return listing
    },
    onChange: (each) => addListener(changed, each),
  }
})
afterEach(() => void vi.useRealTimers())

const toolsOf = (seen: { readonly listing: MergedListing } | undefined): string[] =>
  JSON.parse(seen?.listing.text('tools') ?? '[]').map(({ name }: { name: string }) => name)
const SHARED = ['own__login', 'shared__add']
const OWN = ['own__login', 'own__secret', 'shared__add']

describe('virtual servers of clients', () => {
  test('a client without own lists has the shared virtual server', () => {
    expect(virtualServers.find('bob', virtualServer)).toBeUndefined()
  })

  test('a client without own lists of the servers of the mount has the shared virtual server', () => {
    versions.set(
      'ann',
      new Map([
        ['shared', '1'],
        ['elsewhere', '1'],
      ]),
    )
    expect(virtualServers.find('ann', virtualServer)).toBeUndefined()
    expect(reads).toEqual([])
  })

  test('a client with own lists has a virtual server with their items and addresses', async () => {
    const seen = await virtualServers.find('ann', virtualServer)
    expect(toolsOf(seen)).toEqual(OWN)
    expect(seen?.listing.tool('own__secret')).toEqual({ server: 'own', name: 'secret' })
    expect(seen?.listing.isOwn('own')).toBe(true)
    expect(seen?.servers).toEqual(['own', 'shared'])
    expect(toolsOf(virtualServer)).toEqual(SHARED)
  })

  test('own lists follow the rules of a bundle', async () => {
    const bundle = {
      names: 'on-collision' as const,
      servers: { own: { deny: ['sec*'], rename: { more: 'less' } }, shared: {} },
    }
    listing = bundleListing(bundle, [own, shared])
    lists.set('ann', serverListing('own', true, 'login', 'secret', 'add', 'more'))
    expect(toolsOf(await virtualServers.find('ann', virtualServer))).toEqual([
      'login',
      'own__add',
      'less',
      'shared__add',
    ])
  })

  test('own lists are read again only when they or the shared lists have changed', async () => {
    const first = await virtualServers.find('ann', virtualServer)
    expect((await virtualServers.find('ann', virtualServer))?.listing).toBe(first?.listing)
    expect(reads).toHaveLength(1)
    versions.set('ann', new Map([['own', '2']]))
    lists.set('ann', serverListing('own', true, 'other'))
    expect(toolsOf(await virtualServers.find('ann', virtualServer))).toEqual([
      'own__other',
      'shared__add',
    ])
    listing = new MergedListing([own], underServer)
    expect(toolsOf(await virtualServers.find('ann', virtualServer))).toEqual(['own__other'])
    expect(reads).toHaveLength(3)
  })

  test('a client has the shared lists while its process is unreachable, which is retried', async () => {
    read = async () => undefined
    expect((await virtualServers.find('ann', virtualServer))?.listing).toBe(listing)
    read = async (client) => lists.get(client)
    expect(toolsOf(await virtualServers.find('ann', virtualServer))).toEqual(OWN)
  })

  test('the virtual servers of the latest 200 clients are cached', async () => {
    for (let client = 0; client <= 200; client++) {
      versions.set(`${client}`, new Map([['own', '1']]))
      lists.set(`${client}`, own)
      await virtualServers.find(`${client}`, virtualServer)
    }
    reads = []
    for (const client of ['200', '1', '0']) await virtualServers.find(client, virtualServer)
    expect(reads).toEqual(['0 own'])
  })
})

describe('virtual servers that are followed', () => {
  /** The tools after each change. */
  let seen: string[][]
  let followed: VirtualServer & Disposable
  const follow = (client: string): void => {
    seen = []
    followed = virtualServers.follow(client, virtualServer)
    followed.onChange(() => seen.push(toolsOf(followed)))
    expect(toolsOf(followed)).toEqual(SHARED)
  }
  const settle = () => vi.advanceTimersByTimeAsync(0)

  test('a client is notified once of its own lists, of each change and of their end', async () => {
    follow('ann')
    await settle()
    change()
    await settle()
    versions.set('ann', new Map([['own', '2']]))
    lists.set('ann', serverListing('own', true))
    change()
    await settle()
    versions.delete('ann')
    change()
    expect(seen).toEqual([OWN, ['shared__add'], SHARED])
  })

  test('a client is notified of changes of the shared lists, merged with its own', async () => {
    follow('ann')
    await settle()
    listing = new MergedListing(
      [own, serverListing('shared', false, 'add', 'subtract')],
      underServer,
    )
    change()
    await settle()
    expect(seen.at(-1)).toEqual([...OWN, 'shared__subtract'])
  })

  test('a client is notified once its unreachable process can be read', async () => {
    read = async () => undefined
    follow('ann')
    await vi.advanceTimersByTimeAsync(2_500)
    expect(reads).toHaveLength(3)
    expect(seen).toEqual([])
    read = async (client) => lists.get(client)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toEqual([OWN])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(reads).toHaveLength(4)
  })

  test('an outdated answer is ignored', async () => {
    const late = Promise.withResolvers<ServerListing | undefined>()
    read = () => late.promise
    follow('ann')
    versions.delete('ann')
    change()
    late.resolve(lists.get('ann'))
    await settle()
    expect(seen).toEqual([])
  })

  test('a disposed virtual server stops reading', async () => {
    read = async () => undefined
    follow('ann')
    await settle()
    followed[Symbol.dispose]()
    expect(changed.size).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(reads).toHaveLength(1)
  })
})
