import { isDeepStrictEqual } from 'node:util'
import { connectBus } from '@mcp-host/bus'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Accounts, FIRST_ADMIN_MAKER, isLoginValid } from './accounts.ts'
import { Invitations } from './invitations.ts'
import type { Makers } from './makers.ts'

const quiet = () => undefined
const logger = { info: quiet, warn: quiet, error: quiet }
const stack = new AsyncDisposableStack()
let broker: Broker
let accounts: Accounts
let others: Accounts
let invitations: Invitations

beforeAll(async () => {
  broker = stack.use(await startBroker())
})
afterAll(() => stack.disposeAsync())

beforeEach(async () => {
  const [bus, other] = await Promise.all([
    connectBus({ url: broker.url, name: 'test', logger }),
    connectBus({ url: broker.url, name: 'test', logger }),
  ])
  stack.use(bus)
  stack.use(other)
  accounts = await Accounts.open(bus)
  others = await Accounts.open(other)
  invitations = await Invitations.open(bus, accounts)
})

const about = { roles: ['user'], createdBy: 'local' }
const always = () => true

test('the first admin is the same for good, also when another account is created by a link', async () => {
  await using empty = await startBroker()
  const none = await Accounts.open(await empty.connect())
  await none.create({ name: 'carl', roles: ['user'], createdBy: 'local' })
  await eventually(() => none.list.length === 1)
  expect(none.firstAdmin).toBeUndefined()
  for (const name of ['root', 'abe']) {
    await none.create({ name, roles: ['admin'], createdBy: FIRST_ADMIN_MAKER })
    await eventually(() => none.find(name) !== undefined)
  }
  await none.change('root', { roles: ['user'] })
  await none.change('carl', { roles: ['admin'] })
  await eventually(() => none.find('carl')?.roles.includes('admin') === true)
  expect(none.firstAdmin?.name).toBe('root')
})

describe('an account', () => {
  test('is known to other processes, and its name is taken once', async () => {
    await accounts.create({ name: 'ann@example.com', ...about })
    await eventually(() => others.find('ann@example.com') !== undefined)
    await expect(others.create({ name: 'ann@example.com', ...about })).rejects.toMatchObject({
      code: 'conflict',
      field: 'name',
    })
    expect(await others.read('bob')).toBeUndefined()
  })

  test('is not a user of an identity provider that is disabled', async () => {
    await accounts.disableUser('oidc:1234', 'local')
    await eventually(() => others.ofPrincipal('oidc:1234')?.isDisabled === true)
    expect(others.disabledUsers).toEqual(['oidc:1234'])
    expect(others.list.map(({ name }) => name)).not.toContain('oidc:1234')
    expect(others.ofPrincipal('user:oidc:1234')).toBeUndefined()
    await accounts.enableUser('oidc:1234')
    await eventually(() => others.ofPrincipal('oidc:1234') === undefined)
  })

  test('that was disabled or invalidated refuses earlier logins', async () => {
    const { validFrom } = await accounts.create({ name: 'carl', ...about })
    const isValid = async (time: number) => isLoginValid(await others.read('carl'), time)
    expect(await isValid(validFrom)).toBe(true)
    const before = Date.now()
    await accounts.endLogins('carl')
    expect(await isValid(before)).toBe(false)
    expect(await isValid(Date.now())).toBe(true)
    await accounts.change('carl', { isDisabled: true })
    expect(await isValid(Date.now())).toBe(false)
  })

  test('is found as a principal, too', async () => {
    await accounts.create({ name: 'fay', ...about })
    await eventually(() => accounts.ofPrincipal('user:fay')?.name === 'fay')
    expect(accounts.ofPrincipal('key:fay')).toBeUndefined()
  })

  test('stays admin while it is the last one that can log in', async () => {
    const admin = { roles: ['admin'], createdBy: 'local', password: 'a hash' }
    expect(accounts.hasAdmin).toBe(false)
    await accounts.create({ name: 'root', ...admin })
    await eventually(() => accounts.hasAdmin)
    await expect(accounts.change('root', { isDisabled: true })).rejects.toThrow('last admin')
    await expect(accounts.change('root', { roles: ['user'] })).rejects.toThrow('last admin')
    await accounts.create({ name: 'root2', ...admin })
    await eventually(() => accounts.find('root2') !== undefined)
    expect((await accounts.change('root', { roles: ['user'] })).roles).toEqual(['user'])
  })
})

describe('an invitation', () => {
  test('is found by its token and used once, by one of several requests', async () => {
    await accounts.create({ name: 'ann', ...about })
    const { token } = await invitations.create('ann', 'user:root')
    const found = await Promise.all([1, 2, 3].map(() => invitations.find(token, always)))
    expect(found.map((each) => each?.account)).toEqual(['ann', 'ann', 'ann'])
    const redeemed = await Promise.allSettled(found.map((each) => each!.redeem()))
    expect(redeemed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await invitations.find(token, always)).toBeUndefined()
    expect(await invitations.find('x'.repeat(43), always)).toBeUndefined()
  })

  test.each([
    ['a newer one', (name: string) => invitations.create(name, 'user:root')],
    ['a password', (name: string) => accounts.endLogins(name, { password: 'a hash' })],
    ['an admin', (name: string) => invitations.revoke(name)],
    [
      'the end of its account, for good',
      async (name: string) => {
        await accounts.change(name, { isDisabled: true })
        await accounts.change(name, { isDisabled: false })
      },
    ],
  ])('is ended by %s, also while its form is open', async (by, end) => {
    const { name } = await accounts.create({ name: by.replaceAll(/\W+/g, '-'), ...about })
    const { token } = await invitations.create(name, 'user:root')
    const open = await invitations.find(token, always)
    await end(name)
    expect(await invitations.find(token, always)).toBeUndefined()
    await expect(open!.redeem()).rejects.toMatchObject({ code: 'not-found' })
  })

  test('whose makers are not in order is refused, also while its form is open', async () => {
    await accounts.create({ name: 'gus', ...about })
    const makers = { principals: ['key:ci', 'user:root'], keys: ['k'] }
    const { token } = await invitations.create('gus', 'key:ci', makers)
    let areInOrder = true
    const rule = (given: Makers) => areInOrder && isDeepStrictEqual(given, makers)
    const open = await invitations.find(token, rule)
    areInOrder = false
    expect(await invitations.find(token, rule)).toBeUndefined()
    await expect(open!.redeem()).rejects.toMatchObject({ code: 'not-found' })
  })

  test('of a disabled account sets no password', async () => {
    await accounts.create({ name: 'dan', ...about })
    await accounts.change('dan', { isDisabled: true })
    const { token } = await invitations.create('dan', 'user:root')
    expect(await invitations.find(token, always)).toBeUndefined()
  })

  test('of the first admin is good at each of several starts, until there is an admin', async () => {
    await using empty = await startBroker()
    const bus = await empty.connect()
    const none = await Accounts.open(bus)
    const ofNone = await Invitations.open(bus, none)
    const offers = await Promise.all([1, 2, 3].map(() => ofNone.offerFirstAdmin()))
    for (const { token } of offers) expect(await ofNone.find(token, always)).toBeDefined()
    const [used, ...unused] = await Promise.all(
      offers.map(({ token }) => ofNone.find(token, always)),
    )
    await used!.redeem()
    await none.create({ name: 'root', roles: ['admin'], createdBy: 'system', password: 'a hash' })
    await eventually(() => none.hasAdmin)
    for (const { token } of offers) expect(await ofNone.find(token, always)).toBeUndefined()
    for (const other of unused) await expect(other!.redeem()).rejects.toThrow('ended')
  })
})
