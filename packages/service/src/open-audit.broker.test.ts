import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ChainVerifier, parseEntry } from '@mcp-host/audit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { auditSettings } from './audit-settings.ts'
import { createLogger } from './logger.ts'
import { openAudit } from './open-audit.ts'
import { loadConfig } from './settings.ts'

const record = { action: 'login', principal: 'user:ann' } as const

async function open(mode: 'async' | 'required', env: Record<string, string> = {}) {
  const broker = await startBroker()
  const bus = await broker.connect()
  const metrics = new Registry()
  const logger = createLogger('test', 'silent')
  const settings = loadConfig(auditSettings, { AUDIT: mode, ...env })
  const audit = await openAudit('test', { bus, logger, metrics }, settings)
  if (audit === undefined) throw new Error('it is off')
  return { broker, bus, metrics, audit }
}

async function metric(metrics: Registry, name: string): Promise<number> {
  const found = await metrics.getSingleMetric(`mcp_host_audit_${name}`)?.get()
  return found?.values[0]?.value ?? Number.NaN
}

test('entries outlast an outage of nats-server, in order and once, while callers go on', async () => {
  const { broker, bus, metrics, audit } = await open('async')
  await using _broker = broker
  void audit.record(record)
  await eventually(async () => (await metric(metrics, 'entries_total')) === 1)
  await broker.kill()
  for (let count = 0; count < 200; count++) {
    expect(audit.record({ ...record, detail: { count } })).toBeUndefined()
    await new Promise((resolve) => void setTimeout(resolve, 5))
  }
  expect(await metric(metrics, 'lag_seconds')).toBeGreaterThan(0.5)
  await broker.start()
  await eventually(async () => (await metric(metrics, 'entries_total')) === 201, {
    limitMs: 20_000,
    what: 'all entries',
  })
  await audit[Symbol.asyncDispose]()
  const texts = (await Array.fromAsync(bus.audit.read())).flatMap(({ entries }) => entries)
  expect(texts.map((text) => parseEntry(text)?.detail?.['count']).slice(1, 201)).toEqual(
    Array.from({ length: 200 }, (_, count) => count),
  )
  const faults: unknown[] = []
  const options = { isBeginOptional: false, now: Date.now() + 3_600_000 }
  const verifier = new ChainVerifier({ ...options, onFault: (fault) => faults.push(fault) })
  for (const text of texts) verifier.take(bus.id, text)
  verifier.end()
  expect(faults).toEqual([])
  expect(await metric(metrics, 'dropped_total')).toBe(0)
})

test('checkpoints of all processes are kept in the folder of AUDIT_CHECKPOINTS', async () => {
  await using folder = await testFolder()
  const writers: string[] = []
  for (const _ of [1, 2]) {
    const { broker, bus, audit } = await open('async', { AUDIT_CHECKPOINTS: folder.path })
    await using _broker = broker
    void audit.record(record)
    await audit[Symbol.asyncDispose]()
    writers.push(bus.id)
  }
  const lines = (await readFile(join(folder.path, 'test.jsonl'), 'utf8')).trim().split('\n')
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(
    writers.map((writer) => ({
      time: expect.any(String),
      writer,
      count: 1,
      hash: expect.stringMatching(/^[\w+/=-]{40,}$/),
    })),
  )
})

test('a folder of AUDIT_CHECKPOINTS that is not there costs no entry', async () => {
  const { broker, metrics, audit } = await open('async', { AUDIT_CHECKPOINTS: '/nowhere' })
  await using _broker = broker
  void audit.record(record)
  await audit[Symbol.asyncDispose]()
  expect(await metric(metrics, 'entries_total')).toBe(2)
})

test('where entries are required, one that cannot be stored refuses its action', async () => {
  const { broker, bus, audit } = await open('required')
  await using _broker = broker
  await audit.record(record)
  expect(await bus.audit.state()).toMatchObject({ messages: 1 })
  await broker.kill()
  await expect(audit.record(record)).rejects.toMatchObject({ code: 'unavailable' })
  await audit[Symbol.asyncDispose]()
})
