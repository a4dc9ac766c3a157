import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FixtureService } from '../test/service-process.ts'

let broker: Broker
let folder: Awaited<ReturnType<typeof testFolder>>
let files = 0

beforeAll(async () => {
  broker = await startBroker()
  folder = await testFolder()
})
afterAll(async () => {
  await broker[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

interface RunFile {
  readonly name: string
  readonly pid: number
  readonly url: string
}

async function startReady(env: Record<string, string> = {}) {
  const path = join(folder.path, `run-${++files}.json`)
  const service = await FixtureService.start({ NATS_URL: broker.url, READY_FILE: path, ...env })
  const written = await eventually(() => readFile(path, 'utf8').catch(() => undefined))
  return { service, run: JSON.parse(written) as RunFile }
}

const logLines = (out: string): Record<string, unknown>[] =>
  out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))

const said = (out: string): string[] =>
  out.split('\n').filter((line) => line.startsWith('service:'))

describe('a service that is started', () => {
  test('writes who and where it is once it is ready, answers there, and logs as JSON', async () => {
    const { service, run } = await startReady()
    await using _ = service
    expect(run).toEqual({ name: 'fixture', pid: service.process.pid, url: expect.any(String) })
    expect((await fetch(`${run.url}/ready`)).status).toBe(200)
    expect(await (await fetch(`${run.url}/metrics`)).text()).toContain('service="fixture"')
    expect((await readdir(folder.path)).filter((file) => !file.endsWith('.json'))).toEqual([])
    service.process.signal('SIGTERM')
    const [line] = logLines((await service.ended()).out)
    expect(line).toMatchObject({
      level: 'info',
      service: 'fixture',
      pid: run.pid,
      message: 'ready',
      component: 'service',
      action: 'ready',
    })
    expect(Number.isNaN(Date.parse(String(line?.['timestamp'])))).toBe(false)
  })

  test('leaves its compiled code to the next start, even if it is killed as soon as it is ready', async () => {
    const cache = join(folder.path, 'compiled')
    const { service } = await startReady({ NODE_COMPILE_CACHE: cache })
    await using _ = service
    service.process.signal('SIGKILL')
    await service.process.gone
    const kept = await readdir(cache, { recursive: true })
    expect(kept.length).toBeGreaterThan(100)
  })

  test('starts where its compiled code cannot be kept', async () => {
    const { service } = await startReady({ NODE_COMPILE_CACHE: '/dev/null/compiled' })
    await using _ = service
  })

  test('names all faulty settings at once and ends with 2', async () => {
    const env = { NATS_URL: broker.url, COUNT: '7', BEHAVIOUR: 'good' }
    await using service = await FixtureService.start(env)
    const { err, exit } = await service.ended()
    expect(err).toBe('fixture: faulty settings:\n  COUNT=7: must be from 1 to 3\n')
    expect(exit).toEqual({ code: 2, signal: null })
  })

  test('names faulty settings of its own beside those of every service', async () => {
    await using service = await FixtureService.start({ LOG_LEVEL: 'loud', COUNT: '7' })
    const { err, exit } = await service.ended()
    expect(err).toContain('LOG_LEVEL=loud: must be one of')
    expect(err).toContain('COUNT=7: must be from 1 to 3')
    expect(exit).toEqual({ code: 2, signal: null })
  })

  test('refuses settings that do not go together', async () => {
    await using service = await FixtureService.start({ BEHAVIOUR: 'single', COUNT: '2' })
    const { err, exit } = await service.ended()
    expect(err).toContain('BEHAVIOUR and COUNT disagree')
    expect(exit.code).toBe(2)
  })

  test('but cannot be built says why and ends with 1', async () => {
    await using service = await FixtureService.start({ NATS_URL: broker.url, BEHAVIOUR: 'broken' })
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 1, signal: null })
    expect(logLines(out).at(-1)).toMatchObject({
      level: 'fatal',
      message: 'could not start',
      err: { message: 'cannot be built' },
    })
  })

  test('before its broker waits for it, and can be stopped meanwhile', async () => {
    await using service = await FixtureService.start({ NATS_URL: 'nats://my-token@127.0.0.1:1' })
    await service.says('trying again')
    service.process.signal('SIGTERM')
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 0, signal: null })
    expect(out).not.toContain('my-token')
  })
})

describe('a service that is told to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s finishes what is in hand, then closes, and ends with 0',
    async (signal) => {
      const { service } = await startReady()
      await using _ = service
      service.process.signal(signal)
      const { out, exit } = await service.ended()
      expect(exit).toEqual({ code: 0, signal: null })
      expect(said(out)).toEqual(['service: draining', 'service: drained', 'service: disposed'])
    },
  )

  test('ends at once at the second signal', async () => {
    const { service } = await startReady({ BEHAVIOUR: 'stuck' })
    await using _ = service
    const seen: string[] = []
    service.process.stdout?.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
    service.process.signal('SIGTERM')
    await eventually(() => seen.join('').includes('draining'))
    service.process.signal('SIGTERM')
    expect((await service.ended()).exit).toEqual({ code: 1, signal: null })
  }, 8_000)

  test.concurrent('closes when the time for what is in hand is over', async () => {
    const { service } = await startReady({ BEHAVIOUR: 'stuck', DRAIN_LIMIT_MS: '500' })
    await using _ = service
    service.process.signal('SIGTERM')
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 0, signal: null })
    expect(said(out)).toEqual(['service: draining', 'service: disposed'])
  }, 10_000)

  test.concurrent('ends 5 s after that with 1 when it cannot even be built', async () => {
    await using service = await FixtureService.start({
      NATS_URL: broker.url,
      BEHAVIOUR: 'endless',
      DRAIN_LIMIT_MS: '500',
    })
    await service.says('creating')
    service.process.signal('SIGTERM')
    expect((await service.ended()).exit).toEqual({ code: 1, signal: null })
  }, 15_000)

  test('works on while its successor starts, says so, and finishes when it is told that one is there', async () => {
    const { service, run } = await startReady({ SUCCESSOR_LIMIT_MS: '60000' })
    await using _ = service
    const health = async (): Promise<unknown> => (await fetch(`${run.url}/health`)).json()
    expect(await health()).not.toHaveProperty('stopping')
    service.process.signal('SIGTERM')
    await eventually(async () => 'stopping' in ((await health()) as object))
    expect((await fetch(`${run.url}/ready`)).status).toBe(200)
    service.process.signal('SIGINT')
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 0, signal: null })
    expect(said(out)).toEqual(['service: draining', 'service: drained', 'service: disposed'])
  })

  test('finishes without a successor that does not come', async () => {
    const { service } = await startReady({ SUCCESSOR_LIMIT_MS: '300' })
    await using _ = service
    service.process.signal('SIGTERM')
    expect((await service.ended()).exit).toEqual({ code: 0, signal: null })
  })

  test('is no longer ready while it finishes what is in hand, but lives', async () => {
    const { service, run } = await startReady({ BEHAVIOUR: 'stuck' })
    await using _ = service
    service.process.signal('SIGTERM')
    await service.says('draining')
    const response = await fetch(`${run.url}/ready`)
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'not ready', reason: 'draining' },
    ])
    expect((await fetch(`${run.url}/health`)).status).toBe(200)
  })

  test('closes, says so in the log and ends with 1 when what is in hand fails', async () => {
    const { service } = await startReady({ BEHAVIOUR: 'failing' })
    await using _ = service
    service.process.signal('SIGTERM')
    const { out, exit } = await service.ended()
    expect(said(out)).toEqual(['service: draining', 'service: disposed'])
    expect(logLines(out).at(-1)).toMatchObject({
      level: 'error',
      action: 'drain',
      err: { message: 'cannot drain' },
    })
    expect(exit).toEqual({ code: 1, signal: null })
  })
})
