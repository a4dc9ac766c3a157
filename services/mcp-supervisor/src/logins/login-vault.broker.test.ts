import { randomBytes } from 'node:crypto'
import type { Bus } from '@mcp-host/bus'
import { defineBucket, ServerName } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { CompleteLogin, PendingLogin } from '@mcp-host/upstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Account, accountKey } from './account.ts'
import { LoginVault } from './login-vault.ts'
import { PendingLogins } from './pending-logins.ts'
import { Sealer } from './sealer.ts'

const key = randomBytes(32)
const server = ServerName.parse('notes')
let accounts = 0
const newAccount = (): Account => ({ server, principal: `user:${++accounts}`, label: 'default' })
const loginWith = (token: string): CompleteLogin => ({
  issuer: 'https://login.example.com',
  client: { client_id: 'a' },
  tokens: { access_token: token, token_type: 'Bearer' },
  scope: 'read',
})

let broker: Broker
let bus: Bus
let one: LoginVault
let other: LoginVault
beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  one = await LoginVault.open(bus, new Sealer([key]))
  other = await LoginVault.open(await broker.connect(), new Sealer([key]))
})
afterAll(() => broker[Symbol.asyncDispose]())

const raw = () => bus.bucket(defineBucket('UPSTREAM_LOGINS', { record: z.any(), what: 'logins' }))

test('a login is there for every supervisor, and sealed', async () => {
  const account = newAccount()
  await one.add(account, loginWith('a token'))
  expect(await other.storeOf(account).load()).toMatchObject({ tokens: { access_token: 'a token' } })
  const stored = await (await raw()).get(accountKey(account))
  expect(JSON.stringify(stored)).not.toContain('a token')
  await eventually(() => other.of(account.principal).length === 1)
  expect(other.of(account.principal)).toMatchObject([{ issuer: 'https://login.example.com' }])
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
  await late.load()
  expect(await one.remove(account)).toMatchObject({ tokens: { access_token: 'second' } })
  await late.save(loginWith('second, replaced'))
  expect(await one.storeOf(account).load()).toBeUndefined()
})

test('a login that is over stays as one to renew', async () => {
  const account = newAccount()
  await one.add(account, loginWith('first'))
  const store = one.storeOf(account)
  await store.load()
  await store.save(undefined)
  expect(await store.load()).toBeUndefined()
  await eventually(() => other.record(account) !== undefined)
  expect(other.record(account)).toMatchObject({ principal: account.principal })
})

test('a login that is under way is taken once, by its user in its browser', async () => {
  const starts = await PendingLogins.open(bus, new Sealer([key]))
  const account = newAccount()
  const { principal } = account
  const pending: PendingLogin = {
    issuer: 'https://login.example.com',
    client: { client_id: 'a' },
    redirectUrl: 'https://host.example/connected',
    state: 'a state',
    verifier: 'a verifier',
  }
  await starts.keep({ account, browser: 'b', pending })
  const right = { principal, browser: 'b', state: 'a state' }
  for (const wrong of [{ principal: 'user:eve' }, { browser: 'c' }, { state: 'another' }]) {
    await expect(starts.take({ ...right, ...wrong })).rejects.toThrow('begin again')
  }
  const taken = await Promise.allSettled([starts.take(right), starts.take(right)])
  expect(taken.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await expect(starts.take(right)).rejects.toThrow('begin again')
})
