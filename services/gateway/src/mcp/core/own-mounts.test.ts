import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { bundleOffer } from './bundle.ts'
import type { Mount } from './mount.ts'
import type { Offering } from './offer.ts'
import { Offer } from './offer.ts'
import { OwnMounts } from './own-mounts.ts'

const offering = (server: string, isOwn: boolean, ...tools: string[]): Offering => ({
  server,
  isOwn,
  tools: tools.map((name) => ({ name, inputSchema: {} })),
  prompts: [],
  resources: [],
  resourceTemplates: [],
})
const own = offering('own', true, 'login')
const shared = offering('shared', false, 'add')
const underServer = ({ server, name }: { server: string; name: string }) => `${server}__${name}`

let offer: Offer
/** The versions of the own lists, by client and server. */
let versions: Map<string, Map<string, string>>
/** What the processes list, by client. */
let lists: Map<string, Offering>
let reads: string[]
let read: (client: string) => Promise<Offering | undefined>
let changed: Set<() => void>
let mounts: OwnMounts
let mount: Mount

const listener = (of: Set<() => void>, each: () => void): Disposable => {
  of.add(each)
  return { [Symbol.dispose]: () => void of.delete(each) }
}
const change = (): void => changed.forEach((each) => each())

beforeEach(() => {
  vi.useFakeTimers()
  offer = new Offer([own, shared], underServer)
  versions = new Map([['ann', new Map([['own', '1']])]])
  lists = new Map([['ann', offering('own', true, 'login', 'secret')]])
  reads = []
  read = async (client) => lists.get(client)
  changed = new Set()
  mounts = new OwnMounts({
    versions: (client) => versions.get(client),
    onChange: (each) => listener(changed, each),
    read(server, client) {
      reads.push(`${client} ${server}`)
      return read(client)
    },
  })
  mount = {
    get offer() {
      return offer
    },
    onChange: (each) => listener(changed, each),
  }
})
afterEach(() => void vi.useRealTimers())

const toolsOf = (seen: { readonly offer: Offer } | undefined): string[] =>
  JSON.parse(seen?.offer.text('tools') ?? '[]').map(({ name }: { name: string }) => name)
const SHARED = ['own__login', 'shared__add']
const HERS = ['own__login', 'own__secret', 'shared__add']

describe('what a client finds', () => {
  test('is what all see, and nothing to wait for, where its processes list the same', () => {
    expect(mounts.find('bob', mount)).toBeUndefined()
  })

  test('is what all see where the mount has none of those servers, or no processes for each client', () => {
    versions.set(
      'ann',
      new Map([
        ['shared', '1'],
        ['elsewhere', '1'],
      ]),
    )
    expect(mounts.find('ann', mount)).toBeUndefined()
    expect(reads).toEqual([])
  })

  test('is what its own process lists, and its places are there', async () => {
    const seen = await mounts.find('ann', mount)
    expect(toolsOf(seen)).toEqual(HERS)
    expect(seen?.offer.tool('own__secret')).toEqual({ server: 'own', name: 'secret' })
    expect(seen?.offer.isOwn('own')).toBe(true)
    expect(toolsOf(mount)).toEqual(SHARED)
  })

  test('goes by the rules of a bundle', async () => {
    const bundle = {
      names: 'on-collision' as const,
      servers: { own: { deny: ['sec*'], rename: { more: 'less' } }, shared: {} },
    }
    offer = bundleOffer(bundle, [own, shared])
    lists.set('ann', offering('own', true, 'login', 'secret', 'add', 'more'))
    expect(toolsOf(await mounts.find('ann', mount))).toEqual([
      'login',
      'own__add',
      'less',
      'shared__add',
    ])
  })

  test('is asked for again only when its lists, or those of all, have changed', async () => {
    const first = await mounts.find('ann', mount)
    expect((await mounts.find('ann', mount))?.offer).toBe(first?.offer)
    expect(reads).toHaveLength(1)
    versions.set('ann', new Map([['own', '2']]))
    lists.set('ann', offering('own', true, 'other'))
    expect(toolsOf(await mounts.find('ann', mount))).toEqual(['own__other', 'shared__add'])
    offer = new Offer([own], underServer)
    expect(toolsOf(await mounts.find('ann', mount))).toEqual(['own__other'])
    expect(reads).toHaveLength(3)
  })

  test('is what all see while its process cannot be asked, which is tried each time', async () => {
    read = async () => undefined
    expect((await mounts.find('ann', mount))?.offer).toBe(offer)
    read = async (client) => lists.get(client)
    expect(toolsOf(await mounts.find('ann', mount))).toEqual(HERS)
  })

  test('is kept for the 200 that came last', async () => {
    for (let client = 0; client <= 200; client++) {
      versions.set(`${client}`, new Map([['own', '1']]))
      lists.set(`${client}`, own)
      await mounts.find(`${client}`, mount)
    }
    reads = []
    for (const client of ['200', '1', '0']) await mounts.find(client, mount)
    expect(reads).toEqual(['0 own'])
  })
})

describe('a client that listens', () => {
  /** What was seen after each change. */
  let seen: string[][]
  let followed: Mount & Disposable
  const follow = (client: string): void => {
    seen = []
    followed = mounts.follow(client, mount)
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
    lists.set('ann', offering('own', true))
    change()
    await settle()
    versions.delete('ann')
    change()
    expect(seen).toEqual([HERS, ['shared__add'], SHARED])
  })

  test('is told when what all see has changed, with its own in it', async () => {
    follow('ann')
    await settle()
    offer = new Offer([own, offering('shared', false, 'add', 'subtract')], underServer)
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
    const late = Promise.withResolvers<Offering | undefined>()
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
