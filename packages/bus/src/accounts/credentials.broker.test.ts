import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUCKETS } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker, testFolder } from '@mcp-host/testkit'
import { freePort, startNatsServer } from '@mcp-host/tools/host'
import { jetstreamManager } from '@nats-io/jetstream'
import { Guardian } from '@mcp-host/process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../test/silent-logger.ts'
import { connectNats } from '../connect.ts'
import { connectBus } from '../nats-bus.ts'
import { provision } from '../provision.ts'
import { seedFileOf } from '../seed-file.ts'
import { ensureCredentials } from './credentials.ts'
import { accountsConfig } from './server-config.ts'

const bin = process.env['NATS_SERVER_BIN'] ?? 'nats-server'
const logger = silentLogger

describe('at a nats-server with accounts', () => {
  let broker: Broker
  beforeAll(async () => {
    broker = await startBroker({ hasAccounts: true })
  })
  afterAll(() => broker[Symbol.asyncDispose]())

  test("a service with another one's credential is told which it has and which it needs", async () => {
    const credential = { seedFile: broker.seedFile('gateway') }
    const connecting = connectBus({ url: broker.url, name: 'mcp-supervisor', logger, credential })
    await expect(connecting).rejects.toMatchObject({
      code: 'denied',
      message:
        'NATS_NKEY_SEED_FILE has the credential of gateway (account EDGE); mcp-supervisor needs that of mcp-supervisor (account SUP)',
    })
  })

  test("a command of operators is not served with a service's credential, nor a service with theirs", async () => {
    for (const [name, owner] of [
      ['keys', 'gateway'],
      ['gateway', 'tools'],
    ] as const) {
      const credential = { seedFile: broker.seedFile(owner) }
      const connecting = connectBus({ url: broker.url, name, logger, credential })
      await expect(connecting).rejects.toMatchObject({ code: 'denied' })
    }
  })

  test('a process without a credential is refused, and told where to give it', async () => {
    const connecting = connectBus({ url: broker.url, name: 'gateway', logger })
    await expect(connecting).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining('NATS_NKEY_SEED_FILE'),
    })
  })

  test('a service finds its own credential in a folder', async () => {
    const credential = { seedFile: join(broker.seedFile('gateway') ?? '', '..') }
    await using bus = await connectBus({ url: broker.url, name: 'llm-worker', logger, credential })
    await bus.ping()
  })

  test('a file without a seed is refused by its name', async () => {
    await using folder = await testFolder()
    const seedFile = join(folder.path, 'some.nk')
    await writeFile(seedFile, '# a comment\nSUNOTASEED\n')
    for (const credential of [{ seedFile }, { seedFile: join(folder.path, 'none.nk') }]) {
      const connecting = connectBus({ url: broker.url, name: 'gateway', logger, credential })
      await expect(connecting).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining(credential.seedFile),
      })
    }
  })
})

test('credentials are private files, and the same at each start', async () => {
  await using folder = await testFolder()
  const seeds = join(folder.path, 'bus')
  const keys = await ensureCredentials(seeds)
  expect(await ensureCredentials(seeds)).toEqual(keys)
  expect(new Set(Object.values(keys).flat()).size).toBe(5)
  for (const participant of ['gateway', 'tools'] as const) {
    const file = seedFileOf(seeds, participant)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toContain(`credential of ${participant}`)
  }
  // A seed begins so; a public key may have these letters inside.
  expect(JSON.stringify(accountsConfig(keys))).not.toMatch(/"SUA[A-Z2-7]{50}/)
})

test('services start once the streams are created, and a repeated provision changes nothing', async () => {
  await using folder = await testFolder()
  await using guardian = new Guardian()
  const seeds = join(folder.path, 'bus')
  const accounts = accountsConfig(await ensureCredentials(seeds))
  const { url } = await startNatsServer(guardian, { bin, dataDir: folder.path, accounts })
  const gateway = { seedFile: seedFileOf(seeds, 'gateway') }
  const connecting = connectBus({ url, name: 'gateway', logger, credential: gateway })
  await expect(connecting).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('npm run bus-accounts -- provision'),
  })
  const credential = { seedFile: seedFileOf(seeds, 'tools') }
  const options = { url, credential, replicas: 1, auditMaxAgeMs: 86_400_000, logger }
  await provision(options)
  await provision(options)
  await using operator = await connectNats(url, 'operator', credential)
  const streams = await Array.fromAsync((await jetstreamManager(operator)).streams.list())
  expect(streams.map(({ config }) => config.name).toSorted()).toEqual(
    [
      'SESS',
      'AUDIT',
      'RATES',
      'QUOTAS',
      'OBJ_BLOB',
      ...Object.keys(BUCKETS).map((each) => `KV_${each}`),
    ].toSorted(),
  )
  await using bus = await connectBus({ url, name: 'gateway', logger, credential: gateway })
  expect(await bus.secret('a')).toHaveLength(32)
})

test('the records of a host are there whether its services have accounts or not', async () => {
  await using folder = await testFolder()
  await using guardian = new Guardian()
  const seeds = join(folder.path, 'bus')
  const keys = await ensureCredentials(seeds)
  const dataDir = join(folder.path, 'nats')
  const credential = { seedFile: seedFileOf(seeds, 'tools') }
  const secrets: string[] = []
  for (const accounts of [undefined, accountsConfig(keys), undefined, accountsConfig(keys)]) {
    const server = await startNatsServer(guardian, { bin, dataDir, accounts })
    const { url } = server
    const bus = await connectBus({
      url,
      name: 'test',
      logger,
      ...(accounts === undefined ? {} : { credential }),
    })
    secrets.push(Buffer.from(await bus.secret('a')).toString('hex'))
    await bus[Symbol.asyncDispose]()
    await server.stop()
  }
  expect(new Set(secrets).size).toBe(1)
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

test.skipIf(!hasOpenssl)(
  'the connection is encrypted, and nats-server proves itself by a certificate of NATS_TLS_CA (needs openssl)',
  async () => {
    await using folder = await testFolder()
    await using guardian = new Guardian()
    const tls = createCertificates(folder.path)
    await mkdir(join(folder.path, 'nats'))
    const { port, url } = await startNatsServer(guardian, {
      bin,
      dataDir: join(folder.path, 'nats'),
      port: await freePort(),
      tls,
    })
    expect(port).toBeGreaterThan(0)
    const secure = { url, name: 'test', logger, credential: { caFile: tls.ca_file } }
    await using bus = await connectBus(secure)
    await bus.ping()
    const foreign = createCertificates(join(folder.path, 'nats')).ca_file
    const connecting = connectBus({ ...secure, credential: { caFile: foreign } })
    await expect(connecting).rejects.toMatchObject({ code: 'unavailable' })
  },
)

/** An authority, and a certificate of it for loopback, as files in PEM. */
function createCertificates(folder: string) {
  const file = (name: string): string => join(folder, name)
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' })
  const [ca, key, request, cert] = ['ca.pem', 'key.pem', 'request.pem', 'cert.pem'].map(file)
  const caKey = file('ca-key.pem')
  const newKey = ['-newkey', 'rsa:2048', '-nodes']
  openssl('req', '-x509', ...newKey, '-keyout', caKey, '-out', ca!, '-subj', '/CN=test authority')
  openssl(
    'req',
    ...newKey,
    '-keyout',
    key!,
    '-out',
    request!,
    '-subj',
    '/CN=127.0.0.1',
    '-addext',
    // The client asks for localhost where the address is an IP address.
    'subjectAltName=IP:127.0.0.1,DNS:localhost',
  )
  openssl(
    'x509',
    '-req',
    '-in',
    request!,
    '-CA',
    ca!,
    '-CAkey',
    caKey,
    '-copy_extensions',
    'copy',
    '-out',
    cert!,
  )
  return { ca_file: ca!, cert_file: cert!, key_file: key! }
}
