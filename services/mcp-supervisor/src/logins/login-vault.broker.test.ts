import { randomBytes } from 'node:crypto'
import type { Bus } from '@mcp-host/bus'
import { defineBucket, ServerName } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { CompleteLogin, PendingLogin } from '@mcp-host/upstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Account, accountKey } from './account.ts'
import type { LoginEvents } from './login-events.ts'
import { LoginVault } from './login-vault.ts'
import { PendingLogins } from './pending-logins.ts'
import { Registrations } from './registrations.ts'
import { Sealer } from './sealer.ts'

const nobodyIsGone = async (): Promise<boolean> => false
const key = randomBytes(32)
const server = ServerName.parse('notes')
let accounts = 0
const newAccount = (): Account => ({
  server,
  url: 'https://notes.example/mcp',
  principal: `user:${++accounts}`,
  label: 'default',
})
const loginWith = (token: string): CompleteLogin => ({
  issuer: 'https://login.example.com',
  client: { client_id: 'a' },
  tokens: { access_token: token, token_type: 'Bearer' },
  scope: 'read',
})

const happened: string[] = []
const events: LoginEvents = {
  connected: () => void happened.push('connected'),
  disconnected: () => void happened.push('disconnected'),
  replaced: (_, outcome) => void happened.push(outcome),
}
let broker: Broker
let bus: Bus
let one: LoginVault
let other: LoginVault
beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  one = await LoginVault.open(bus, new Sealer([key]), events, nobodyIsGone)
  other = await LoginVault.open(await broker.connect(), new Sealer([key]), events, nobodyIsGone)
})
afterAll(() => broker[Symbol.asyncDispose]())

const raw = () => bus.bucket(defineBucket('UPSTREAM_LOGINS', { record: z.any(), what: 'logins' }))

test('a login is there for every supervisor, and sealed', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a token'))
  expect(await other.storeOf(account).load()).toMatchObject({ tokens: { access_token: 'a token' } })
  const stored = await (await raw()).get(accountKey(account))
  expect(JSON.stringify(stored)).not.toContain('a token')
  await eventually(() => other.known(account) !== undefined)
  expect(other.known(account)).toMatchObject({
    issuer: 'https://login.example.com',
    isUsable: true,
  })
})

test('a record that is put in the place of another is refused', async () => {
  const [ann, bob] = [newAccount(), newAccount()]
  await one.add(ann, loginWith('of ann'))
  await one.add(bob, loginWith('of bob'))
  const records = await raw()
  const stolen = await records.get(accountKey(ann))
  const { principal } = bob
  for (const record of [stolen?.record, { ...stolen?.record, principal }]) {
    await records.put(accountKey(bob), record)
    await expect(other.storeOf(bob).load()).rejects.toThrow('another account')
  }
})

test('work on one login is done by one supervisor at a time', async () => {
  const account = newAccount()
  let running = 0
  let most = 0
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 20))
    running -= 1
  }
  const stores = [one, other, one, other].map((vault) => vault.storeOf(account))
  await Promise.all(stores.map((store) => store.alone(work)))
  expect([most, running]).toEqual([1, 0])
})

test('a token that is replaced late does not undo a new login, nor the end of one', async () => {
  const account = newAccount()
  await one.add(account, loginWith('first'))
  const late = other.storeOf(account)
  await late.load()
  await one.add(account, loginWith('second'))
  await late.save(loginWith('first, replaced'))
  expect(await one.storeOf(account).load()).toMatchObject({ tokens: { access_token: 'second' } })
  // A connection has one login until it is opened again.
  expect(await late.load()).toBeUndefined()
  late.release()
  expect(await late.load()).toBeDefined()
  expect(await one.remove(account, account.principal)).toMatchObject({
    login: { tokens: { access_token: 'second' } },
  })
  await late.save(loginWith('second, replaced'))
  expect(await one.storeOf(account).load()).toBeUndefined()
})

test('a login that is over stays as one to renew', async () => {
  const account = newAccount()
  happened.length = 0
  await one.add(account, loginWith('first'))
  const store = one.storeOf(account)
  await store.load()
  await store.save(loginWith('second'))
  await store.save(undefined)
  expect(await store.load()).toBeUndefined()
  await expect(store.alone(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(happened).toEqual(['connected', 'ok', 'refused', 'failed'])
  expect(await other.read(account)).toMatchObject({ isUsable: false })
})

test('a login that is under way is taken once, by its user in its browser', async () => {
  const starts = await PendingLogins.open(bus, new Sealer([key]))
  const account = newAccount()
  const pending: PendingLogin = {
    issuer: 'https://login.example.com',
    client: { client_id: 'a' },
    redirectUrl: 'https://host.example/connected',
    state: 'a state',
    verifier: 'a verifier',
  }
  await starts.keep(account, 'b', pending)
  const right = { browser: 'b', state: 'a state' }
  const stranger = { ...account, principal: 'user:eve' }
  await expect(starts.take(stranger, right)).rejects.toThrow('begin again')
  for (const wrong of [{ browser: 'c' }, { state: 'another' }]) {
    await expect(starts.take(account, { ...right, ...wrong })).rejects.toThrow('begin again')
  }
  const taken = await Promise.allSettled([starts.take(account, right), starts.take(account, right)])
  expect(taken.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(taken.find(({ status }) => status === 'fulfilled')).toMatchObject({
    value: { account, pending },
  })
  await expect(starts.take(account, right)).rejects.toThrow('begin again')
})

test('a login counts for one address of its server', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a token'))
  const moved = { ...account, url: 'https://elsewhere.example/mcp' }
  expect(await one.storeOf(moved).load()).toBeUndefined()
  expect(await one.read(moved)).toBeUndefined()
  const forged = { ...(await (await raw()).get(accountKey(account)))?.record, url: moved.url }
  await (await raw()).put(accountKey(account), forged)
  await expect(one.storeOf(moved).load()).rejects.toThrow('another account')
})

test('after the loss of a key its users have to log in again', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a token'))
  const vault = await LoginVault.open(bus, new Sealer([randomBytes(32)]), events, nobodyIsGone)
  expect(await vault.storeOf(account).load()).toBeUndefined()
  expect(await vault.read(account)).toMatchObject({ isUsable: false })
  await vault.add(account, loginWith('a new token'))
  expect(await vault.storeOf(account).load()).toBeDefined()
})

test('what an old key sealed is sealed by the new one after a change', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a token'))
  const next = randomBytes(32)
  const rotated = await LoginVault.open(bus, new Sealer([next, key]), events, nobodyIsGone)
  expect(await rotated.sealAgain()).toBeGreaterThan(0)
  const last = await LoginVault.open(bus, new Sealer([next]), events, nobodyIsGone)
  expect(await last.storeOf(account).load()).toMatchObject({ tokens: { access_token: 'a token' } })
  await eventually(async () => (await rotated.sealAgain()) === 0)
})

test('the scopes that a server demands are remembered until the next login', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a token'))
  const store = one.storeOf(account)
  await store.load()
  await store.needMore('write')
  expect(await one.read(account)).toMatchObject({ demanded: 'write', isUsable: true })
  await one.add(account, loginWith('a token that may write'))
  expect(await one.read(account)).not.toHaveProperty('demanded')
})

test('a registration is kept for its redirect address, sealed', async () => {
  const registrations = await Registrations.open(bus, new Sealer([key]))
  const issuer = 'https://login.example.com'
  const store = registrations.of('https://host.example/connected/notes')
  await store.save(issuer, { client_id: 'a', client_secret: 'a secret' })
  expect(await store.load(issuer)).toEqual({ client_id: 'a', client_secret: 'a secret' })
  expect(await registrations.of('https://other.example').load(issuer)).toBeUndefined()
  await store.save(issuer, undefined)
  expect(await store.load(issuer)).toBeUndefined()
})

test('the work of a supervisor that is gone delays nobody for long', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a'))
  const dead = await broker.connect()
  // Its lease is not renewed.
  const lease = { ttlMs: 60_000, isFixed: true }
  await dead.leases.acquire(`login.${accountKey(account)}`, lease)
  const asked: string[] = []
  const isGone = async (supervisor: string): Promise<boolean> => asked.push(supervisor) > 0
  const living = await LoginVault.open(await broker.connect(), new Sealer([key]), events, isGone)
  await living.storeOf(account).alone(async () => undefined)
  expect(new Set(asked)).toEqual(new Set([dead.id]))
  expect(asked.length).toBeGreaterThan(1)
})

test('a login gets another label, which no other login has', async () => {
  const account = newAccount()
  const work = { ...account, label: 'work' }
  await one.add(account, loginWith('a'))
  await one.change(account, { label: 'work' })
  expect(await one.read(account)).toBeUndefined()
  expect(await other.storeOf(work).load()).toMatchObject({ tokens: { access_token: 'a' } })
  await one.add(account, loginWith('b'))
  await expect(one.change(account, { label: 'work' })).rejects.toThrow('another login "work"')
  await expect(one.change({ ...account, label: 'no' }, { isDefault: true })).rejects.toThrow(
    'no login',
  )
})

test('a change of a label that broke off can be repeated', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a'))
  const records = await raw()
  const before = await records.get(accountKey(account))
  await one.change(account, { label: 'work' })
  await records.put(accountKey(account), before?.record)
  await one.change(account, { label: 'work' })
  expect(await one.read(account)).toBeUndefined()
  expect(await one.storeOf({ ...account, label: 'work' }).load()).toBeDefined()
})
