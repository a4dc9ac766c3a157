import type { CatalogEntry, ServerEntry, ServerName } from '@mcp-host/contracts'
import { BusError, catalogKey } from '@mcp-host/contracts'
import { beforeEach, expect, test, vi } from 'vitest'
import { MissingServers } from './missing-servers.ts'
import { VirtualServers } from './virtual-servers.ts'

const ann = { id: 'user:ann', roles: [], scopes: [] }
let entries: Map<string, CatalogEntry>
let listeners: (() => void)[]
let logins: object[] | BusError
let hidden: string
/** How often the logins were asked for. */
let asked: number
let missing: MissingServers
let virtualServers: VirtualServers
beforeEach(() => {
  entries = new Map()
  listeners = []
  logins = []
  hidden = ''
  asked = 0
  const onChange = (listener: () => void): Disposable => {
    listeners.push(listener)
    return { [Symbol.dispose]: () => undefined }
  }
  const catalog = { entries, onChange }
  missing = new MissingServers({
    catalog,
    // The only call.
    bus: { call: async () => answer() as never },
    policy: { isServerHidden: (_, server) => server === hidden },
    linkTo: (server) => `https://host.example/connect/${server}`,
  })
  virtualServers = new VirtualServers(catalog, () => 0)
  const configured = ['broken', 'new', 'notes', 'here'] as ServerName[]
  put({ kind: 'supervisor', id: 'one', startedAt: 0, servers: {}, configured })
  put(entryOf('here', {}))
  put(entryOf('broken', { state: 'unavailable', error: 'it exited with code 1' }))
  put(entryOf('notes', { scope: 'user' }))
})

async function answer(): Promise<object> {
  asked += 1
  if (logins instanceof BusError) throw logins
  return { servers: [{ server: 'notes', url: 'https://notes.example', logins }] }
}

function put(entry: CatalogEntry): void {
  entries.set(catalogKey(entry), entry)
  for (const listener of listeners) listener()
}

function entryOf(name: string, more: Partial<ServerEntry>): ServerEntry {
  const base = { kind: 'server', supervisor: 'one', state: 'ready', revision: 1 } as const
  return { ...base, tools: [], server: name as ServerName, ...more }
}

let users = 0
/** For another user each time, since the answers for one are kept. */
const found = () => missing.of({ ...ann, id: `user:${users++}` }, virtualServers.all())
const BROKEN = { server: 'broken', state: 'unavailable' }
const NEW = { server: 'new', state: 'starting' }
const NOTES = {
  server: 'notes',
  state: 'login-needed',
  link: 'https://host.example/connect/notes',
}

test('a list names the servers that it is without, and those that ask for a login', async () => {
  expect(await found()).toEqual([NEW, BROKEN, NOTES])
  logins = [{ isNeeded: true }]
  expect(await found()).toEqual([NEW, BROKEN, NOTES])
  logins = [{ isNeeded: true }, { isNeeded: false }]
  expect(await found()).toEqual([NEW, BROKEN])
})

test('a server that is back is not named any more', async () => {
  await found()
  put(entryOf('broken', {}))
  put(entryOf('new', { state: 'unavailable', error: 'it is gone' }))
  expect(await found()).toEqual([{ server: 'new', state: 'unavailable' }, NOTES])
})

test('nor is one whose tools are still listed, since it moves to another supervisor', async () => {
  put(entryOf('here', { state: 'unavailable' }))
  expect(await found()).toEqual([NEW, BROKEN, NOTES])
})

test('a server that the policy hides is not named', async () => {
  hidden = 'broken'
  expect(await found()).toEqual([NEW, NOTES])
  hidden = 'notes'
  expect(await found()).toEqual([NEW, BROKEN])
})

test('a list of one server names no other one', async () => {
  const alone = virtualServers.server('notes')
  expect(alone && (await missing.of(ann, alone))).toEqual([NOTES])
  virtualServers.setBundles({ some: { servers: { broken: {} } } })
  const bundle = virtualServers.bundle('some')
  expect(bundle && (await missing.of(ann, bundle))).toEqual([BROKEN])
})

test('a list does not fail when nobody knows the logins', async () => {
  logins = new BusError('unavailable', 'no supervisor answers')
  expect(await found()).toEqual([NEW, BROKEN])
})

test('nobody is asked where no server has users', async () => {
  put(entryOf('notes', {}))
  logins = new BusError('unavailable', 'it must not be asked')
  expect(found()).toEqual([NEW, BROKEN])
})

test('lists that follow each other ask once for the logins of a user', async () => {
  vi.useFakeTimers()
  const list = () => missing.of(ann, virtualServers.all())
  await Promise.all([list(), list()])
  vi.advanceTimersByTime(1_000)
  await list()
  expect(asked).toBe(1)
  logins = [{ isNeeded: false }]
  vi.advanceTimersByTime(1_001)
  expect(await list()).toEqual([NEW, BROKEN])
  expect(asked).toBe(2)
  vi.useRealTimers()
})
