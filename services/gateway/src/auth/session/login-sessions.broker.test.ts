import { randomBytes } from 'node:crypto'
import type { Bucket, Bus } from '@mcp-host/bus'
import type { BucketDefinition } from '@mcp-host/contracts'
import { LOCAL } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LoginSessions } from './login-sessions.ts'
import { Revocations } from './revocations.ts'

let broker: Broker
let bus: Bus
/** The changes of all buckets. */
const changes: string[] = []

beforeAll(async () => {
  broker = await startBroker()
  const real = await broker.connect()
  bus = Object.assign(Object.create(real) as Bus, {
    secret: (name: string) => real.secret(name),
    bucket: async <T>(definition: BucketDefinition<T>): Promise<Bucket<T>> => {
      const bucket = await real.bucket(definition)
      return {
        now: () => bucket.now(),
        get: (key) => bucket.get(key),
        watch: () => bucket.watch(),
        put(...change) {
          changes.push(`put ${definition.name}`)
          return bucket.put(...change)
        },
        remove(...change) {
          changes.push(`remove ${definition.name}`)
          return bucket.remove(...change)
        },
      }
    },
  })
})
afterAll(() => broker[Symbol.asyncDispose]())

const open = async (): Promise<LoginSessions> => {
  const deps = { bus, revocations: await Revocations.open(bus), principalOf: () => LOCAL }
  return LoginSessions.open(deps, ['http://host.example'])
}

test('a logout of a login that does not exist stores nothing', async () => {
  const logins = await open()
  const before = changes.length
  const cookie = `${logins.cookieName}=${randomBytes(32).toString('base64url')}`
  expect(await logins.end({ cookie })).toContain('Max-Age=0')
  expect(changes.slice(before)).toEqual([])
})

test('a logout ends the login at a gateway that does not know it yet, and is stored once', async () => {
  const cookie = (await (await open()).begin({ account: 'ann' })).split(';', 1)[0] ?? ''
  const logins = await open()
  const before = changes.length
  await logins.end({ cookie })
  await logins.end({ cookie: cookie.replace(/.$/, '') })
  expect(changes.slice(before)).toEqual(['put REVOCATIONS', 'remove LOGINS'])
  expect(await (await open()).find({ cookie })).toBeUndefined()
})
