// Attacks on stored logins by somebody who can read and write the broker, but has no key.
import { randomBytes } from 'node:crypto'
import type { Bucket, Bus } from '@mcp-host/bus'
import { defineBucket, ServerName } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { CompleteLogin, PendingLogin } from '@mcp-host/upstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Account, accountKey } from './account.ts'
import { LoginVault } from './login-vault.ts'
import { PendingLogins } from './pending-logins.ts'
import { Registrations } from './registrations.ts'
import { Sealer } from './sealer.ts'

type Fields = Readonly<Record<string, string>>

const nobodyIsGone = async (): Promise<boolean> => false
const key = randomBytes(32)
const events = { connected: () => {}, disconnected: () => {}, replaced: () => {} }
const issuer = 'https://login.example.com'
const victim: Account = {
  server: ServerName.parse('notes'),
  url: 'https://notes.example/mcp',
  principal: 'user:ann',
  label: 'default',
}
const login: CompleteLogin = {
  issuer,
  client: { client_id: 'a' },
  tokens: { access_token: 'token-canary', token_type: 'Bearer' },
}
const pending: PendingLogin = {
  issuer,
  client: { client_id: 'a' },
  redirectUrl: 'https://host.example/connected/notes',
  state: 'a state',
  verifier: 'verifier-canary',
}

let broker: Broker
let bus: Bus
let vault: LoginVault
beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  vault = await LoginVault.open(bus, new Sealer([key]), events, nobodyIsGone)
  await vault.add(victim, login)
})
afterAll(() => broker[Symbol.asyncDispose]())

const rawBucket = (name: string): Promise<Bucket<Fields>> =>
  bus.bucket(defineBucket(name, { record: z.any(), what: 'records as they are stored' }))

async function storedRecord(bucket: string, at: string): Promise<Fields> {
  const found = await (await rawBucket(bucket)).get(at)
  if (found === undefined) throw new Error(`there is no record at ${at}`)
  return found.record
}

/** A record whose sealed part has one bit changed. */
function changeBit({ sealed = '', ...record }: Fields): Fields {
  const bytes = Buffer.from(sealed, 'base64')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  return { ...record, sealed: bytes.toString('base64') }
}

const moved = (change: Partial<Account>): Account => ({ ...victim, ...change })
const MOVED = [
  ['another user', moved({ principal: 'user:eve' })],
  ['a user whose name has the separator', moved({ principal: 'user:ann.default' })],
  ['another label', moved({ label: 'work' })],
  ['another server', moved({ server: ServerName.parse('evil') })],
  ['another address of the server', moved({ url: 'https://evil.example/mcp' })],
  ['the address without TLS', moved({ url: 'http://notes.example/mcp' })],
] as const

test.each(MOVED)('a login that is copied to %s is refused', async (_, account) => {
  const record = await storedRecord('UPSTREAM_LOGINS', accountKey(victim))
  const records = await rawBucket('UPSTREAM_LOGINS')
  const { url } = account
  for (const forged of [
    { ...record, url },
    { ...record, ...account },
  ]) {
    await records.put(accountKey(account), forged)
    await expect(vault.storeOf(account).load()).rejects.toThrow('another account')
    await expect(vault.earlier(account)).rejects.toThrow('another account')
  }
  await records.put(accountKey(victim), record)
})

test.each<[string, (record: Fields) => Fields]>([
  ['another authorization server', (record) => ({ ...record, issuer: 'https://evil.example' })],
  ['the id of another login', (record) => ({ ...record, id: 'x' })],
  ['one changed bit', changeBit],
  [
    'a part that is cut off',
    ({ sealed = '', ...rest }) => ({ ...rest, sealed: sealed.slice(0, 60) }),
  ],
])('a stored login with %s is refused', async (_, change) => {
  const account = moved({ principal: `user:${randomBytes(4).toString('hex')}` })
  await vault.add(account, login)
  const record = await storedRecord('UPSTREAM_LOGINS', accountKey(account))
  await (await rawBucket('UPSTREAM_LOGINS')).put(accountKey(account), change(record))
  await expect(vault.storeOf(account).load()).rejects.toThrow()
})

test('a login that was replaced is not put back', async () => {
  const account = moved({ principal: 'user:replayed' })
  await vault.add(account, login)
  const old = await storedRecord('UPSTREAM_LOGINS', accountKey(account))
  await vault.add(account, { ...login, tokens: { ...login.tokens, access_token: 'newer' } })
  const current = await storedRecord('UPSTREAM_LOGINS', accountKey(account))
  const forged = { ...current, sealed: old['sealed'] ?? '' }
  await (await rawBucket('UPSTREAM_LOGINS')).put(accountKey(account), forged)
  await expect(vault.storeOf(account).load()).rejects.toThrow('another account')
})

test.each(['UPSTREAM_LOGINS', 'UPSTREAM_STARTS', 'UPSTREAM_CLIENTS'])(
  'a stolen bucket %s has no secret',
  async (bucket) => {
    const sealer = new Sealer([key])
    await (await PendingLogins.open(bus, sealer)).keep(victim, 'browser', pending)
    const client = { client_id: 'a', client_secret: 'secret-canary' }
    await (await Registrations.open(bus, sealer)).of(pending.redirectUrl).save(issuer, client)
    const { records } = await (await rawBucket(bucket)).watch()
    const stored = Array.from(records.values())
    expect(stored.length).toBeGreaterThan(0)
    for (const record of stored) {
      const opened = Buffer.from(record['sealed'] ?? '', 'base64').toString('latin1')
      expect(JSON.stringify(record) + opened).not.toMatch(/canary|a state/)
    }
  },
)

test('with another key, stored logins, beginnings and registrations are good for nothing', async () => {
  const sealer = new Sealer([randomBytes(32)])
  const stolen = await LoginVault.open(bus, sealer, events, nobodyIsGone)
  expect(await stolen.storeOf(victim).load()).toBeUndefined()
  const starts = await PendingLogins.open(bus, new Sealer([key]))
  await starts.keep(victim, 'browser', pending)
  const taken = (await PendingLogins.open(bus, sealer)).take(victim, {
    browser: 'browser',
    state: pending.state,
  })
  await expect(taken).rejects.toThrow('begin again')
  const client = { client_id: 'a', client_secret: 'secret-canary' }
  const kept = (await Registrations.open(bus, new Sealer([key]))).of(pending.redirectUrl)
  await kept.save(issuer, client)
  const read = (await Registrations.open(bus, sealer)).of(pending.redirectUrl)
  expect(await read.load(issuer)).toBeUndefined()
})

test.each(MOVED.filter(([title]) => title !== 'another label'))(
  'a login under way that is copied to %s is refused',
  async (_, account) => {
    const starts = await PendingLogins.open(bus, new Sealer([key]))
    await starts.keep(victim, 'browser', pending)
    const keyOf = (user: Account): string => accountKey({ ...user, label: '' })
    const record = await storedRecord('UPSTREAM_STARTS', keyOf(victim))
    await (await rawBucket('UPSTREAM_STARTS')).put(keyOf(account), { ...record, ...account })
    const answer = { browser: 'browser', state: pending.state }
    await expect(starts.take(account, answer)).rejects.toThrow('another account')
  },
)

test('a login under way gets no other label', async () => {
  const starts = await PendingLogins.open(bus, new Sealer([key]))
  await starts.keep(victim, 'browser', pending)
  const at = accountKey({ ...victim, label: '' })
  const record = await storedRecord('UPSTREAM_STARTS', at)
  await (await rawBucket('UPSTREAM_STARTS')).put(at, { ...record, label: 'work' })
  const answer = { browser: 'browser', state: pending.state }
  await expect(starts.take(victim, answer)).rejects.toThrow('another account')
})

test('a registration that is copied to another authorization server is refused', async () => {
  const registrations = (await Registrations.open(bus, new Sealer([key]))).of(pending.redirectUrl)
  await registrations.save('https://evil.example', { client_id: 'of evil' })
  await registrations.save(issuer, { client_id: 'a', client_secret: 'secret-canary' })
  const bucket = await rawBucket('UPSTREAM_CLIENTS')
  const { records } = await bucket.watch()
  const entries = Array.from(records)
  const stolen = entries.find(([, record]) => record['issuer'] === issuer)?.[1]
  const [at = ''] = entries.find(([, record]) => record['issuer'] === 'https://evil.example') ?? []
  await bucket.put(at, { ...stolen, issuer: 'https://evil.example' })
  await expect(registrations.load('https://evil.example')).rejects.toThrow('another account')
})

test('an answer that comes after ten minutes is refused', async () => {
  const limits: (number | undefined)[] = []
  // A second instead of ten minutes.
  const hurried: Pick<Bus, 'bucket'> = {
    async bucket(definition) {
      const bucket = await bus.bucket(definition)
      const put: typeof bucket.put = (at, record, options) => {
        limits.push(options?.ttlMs)
        return bucket.put(at, record, { ...options, ttlMs: 1_000 })
      }
      return { ...bucket, put, get: (at) => bucket.get(at), remove: (at) => bucket.remove(at) }
    },
  }
  const starts = await PendingLogins.open(hurried, new Sealer([key]))
  const late = moved({ principal: 'user:late' })
  await starts.keep(late, 'browser', pending)
  expect(limits).toEqual([600_000])
  expect(await starts.has(late)).toBe(true)
  await eventually(async () => !(await starts.has(late)))
  const answer = { browser: 'browser', state: pending.state }
  await expect(starts.take(late, answer)).rejects.toThrow('begin again')
})
