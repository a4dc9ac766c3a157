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
/** The versions of the own lists, by client and server. */
let versions: Map<string, Map<string, string>>
/** What the processes list, by client. */
let lists: Map<string, ServerListing>
let reads: string[]
let read: (client: string) => Promise<ServerListing | undefined>
let changed: Set<() => void>
let virtualServers: ClientVirtualServers
let virtualServer: VirtualServer

const listener = (of: Set<() => void>, each: () => void): Disposable => {
  of.add(each)
  return { [Symbol.dispose]: () => void of.delete(each) }
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
    onChange: (each) => listener(changed, each),
    read(server, client) {
      reads.push(`${client} ${server}`)
      return read(client)
    },
  })
  virtualServer = {
    get listing() {
      return listing
    },
    onChange: (each) => listener(changed, each),
  }
})
afterEach(() => void vi.useRealTimers())

const toolsOf = (seen: { readonly listing: MergedListing } | undefined): string[] =>
  JSON.parse(seen?.listing.text('tools') ?? '[]').map(({ name }: { name: string }) => name)
const SHARED = ['own__login', 'shared__add']
const HERS = ['own__login', 'own__secret', 'shared__add']

describe('what a client finds', () => {
  test('is what all see, and nothing to wait for, where its processes list the same', () => {
    expect(virtualServers.find('bob', virtualServer)).toBeUndefined()
  })

  test('is what all see where the mount has none of those servers, or no processes for each client', () => {
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

  test('is what its own process lists, and its places are there', async () => {
    const seen = await virtualServers.find('ann', virtualServer)
    expect(toolsOf(seen)).toEqual(HERS)
    expect(seen?.listing.tool('own__secret')).toEqual({ server: 'own', name: 'secret' })
    expect(seen?.listing.isOwn('own')).toBe(true)
    expect(toolsOf(virtualServer)).toEqual(SHARED)
  })

  test('goes by the rules of a bundle', async () => {
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

  test('is asked for again only when its lists, or those of all, have changed', async () => {
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

  test('is what all see while its process cannot be asked, which is tried each time', async () => {
    read = async () => undefined
    expect((await virtualServers.find('ann', virtualServer))?.listing).toBe(listing)
    read = async (client) => lists.get(client)
    expect(toolsOf(await virtualServers.find('ann', virtualServer))).toEqual(HERS)
  })

  test('is kept for the 200 that came last', async () => {
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

describe('a client that listens', () => {
  /** What was seen after each change. */
  let seen: string[][]
  let followed: VirtualServer & Disposable
  const follow = (client: string): void => {
    seen = []
    followed = virtualServers.follow(client, virtualServer)
    followed.onChange(() => seen.push(toolsOf(followed)))
    expect(toolsOf(followed)).toEqual(SHARED)
  }
  const settle = () => vi.advanceTimersByTimeAsync(0)

  test('is told of its own lists from the beginning, of changes, and of their end, once each', async () => {
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
    expect(seen).toEqual([HERS, ['shared__add'], SHARED])
  })

  test('is told when what all see has changed, with its own in it', async () => {
    follow('ann')
    await settle()
    listing = new MergedListing(
      [own, serverListing('shared', false, 'add', 'subtract')],
      underServer,
    )
    change()
    await settle()
    expect(seen.at(-1)).toEqual([...HERS, 'shared__subtract'])
  })

  test('is told as soon as a process that could not be asked can be', async () => {
    read = async () => undefined
    follow('ann')
    await vi.advanceTimersByTimeAsync(2_500)
    expect(reads).toHaveLength(3)
    expect(seen).toEqual([])
    read = async (client) => lists.get(client)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seen).toEqual([HERS])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(reads).toHaveLength(4)
  })

  test('is not told of an answer that came too late', async () => {
    const late = Promise.withResolvers<ServerListing | undefined>()
    read = () => late.promise
    follow('ann')
    versions.delete('ann')
    change()
    late.resolve(lists.get('ann'))
    await settle()
    expect(seen).toEqual([])
  })

  test('hears nothing once it has gone', async () => {
    read = async () => undefined
    follow('ann')
    await settle()
    followed[Symbol.dispose]()
    expect(changed.size).toBe(0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(reads).toHaveLength(1)
  })
})
