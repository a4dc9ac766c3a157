import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Broker } from '@mcp-host/testkit'
import { canMount, eventually, smallDisk, startBroker, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FixtureService } from '../test/service-process.ts'

let broker: Broker
let folder: Awaited<ReturnType<typeof testFolder>>
let built: typeof folder
let program: string
let files = 0

beforeAll(async () => {
  broker = await startBroker()
  folder = await testFolder()
  built = await testFolder()
  program = await FixtureService.build(built.path)
})
afterAll(async () => {
  await broker[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
  await built[Symbol.asyncDispose]()
})

interface RunFile {
  readonly name: string
  readonly pid: number
  readonly url: string
}

async function startReady(env: Record<string, string> = {}) {
  const path = join(folder.path, `run-${++files}.json`)
  const service = await FixtureService.start(program, {
    NATS_URL: broker.url,
    READY_FILE: path,
    ...env,
  })
  const written = await eventually(() => readFile(path, 'utf8').catch(() => undefined))
  return { service, run: JSON.parse(written) as RunFile }
}

const logLines = (out: string): Record<string, unknown>[] =>
  out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))

const serviceLines = (out: string): string[] =>
  out.split('\n').filter((line) => line.startsWith('service:'))

const CLEAN_STOP = ['service: draining', 'service: drained', 'service: disposed']

const isMountable = await canMount()
const skipReason = isMountable ? '' : ' (skipped: it must mount a tmpfs)'

describe('the start of a service', () => {
  test('a service that is ready writes its run file, serves its endpoints and logs as JSON', async () => {
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

  test.skipIf(!isMountable)(
    `a service works on a full disk, and writes its run file once there is room${skipReason}`,
    async () => {
      await using disk = await smallDisk(1)
      await disk.fill()
      const path = join(disk.path, 'run.json')
      await using service = await FixtureService.start(program, {
        NATS_URL: broker.url,
        READY_FILE: path,
      })
      await service.says('its ready file has no room')
      await disk.free()
      await eventually(() => readFile(path, 'utf8').catch(() => undefined))
      service.process.signal('SIGTERM')
      expect(serviceLines((await service.ended()).out)).toEqual(CLEAN_STOP)
    },
  )

  test('warnings of Node.js are lines of the log', async () => {
    const late = 'setTimeout(() => setTimeout(() => undefined, -5), 500)'
    const { service } = await startReady({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}`,
    })
    await using _ = service
    await service.says('"action":"warning"')
    service.process.signal('SIGKILL')
    const { out, err } = await service.ended()
    const line = logLines(out).find(({ action }) => action === 'warning')
    expect(JSON.stringify(line)).toContain('TimeoutNegativeWarning')
    expect(err).toBe('')
  })

  test('a service with a server of its own has an operations server only where OPS_PORT is set', async () => {
    const readyLine = async (env: Record<string, string>) => {
      const { service, run } = await startReady({ BEHAVIOUR: 'serving', ...env })
      await using _ = service
      expect(run.url).toBe('http://gateway.example')
      await service.says('"action":"ready"')
      service.process.signal('SIGKILL')
      return logLines((await service.ended()).out).at(-1)
    }
    expect(await readyLine({})).not.toHaveProperty('operationsUrl')
    const line = await readyLine({ OPS_PORT: '0', OPS_HOST: '127.0.0.2' })
    expect(line?.['operationsUrl']).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/)
  })

  test('an operations server answers while its service is ready, and says when it drains', async () => {
    const env = { BEHAVIOUR: 'stuck', OPS_PORT: '0', OPS_HOST: '0.0.0.0' }
    const { service, run } = await startReady(env)
    await using _ = service
    expect((await fetch(`${run.url}/ready`)).status).toBe(200)
    service.process.signal('SIGTERM')
    await service.says('draining')
    expect((await fetch(`${run.url}/ready`)).status).toBe(503)
    expect((await fetch(`${run.url}/health`)).status).toBe(200)
    expect((await fetch(`${run.url}/metrics`)).status).toBe(200)
  })

  test('a service whose operations server cannot listen names the settings and exits with 2', async () => {
    const { service: first, run } = await startReady()
    await using _ = first
    const { port } = new URL(run.url)
    await using second = await FixtureService.start(program, {
      NATS_URL: broker.url,
      OPS_PORT: port,
    })
    const { out, exit } = await second.ended()
    expect(exit).toEqual({ code: 2, signal: null })
    expect(out).toContain(`OPS_HOST=127.0.0.1, OPS_PORT=${port}: listen EADDRINUSE`)
  })

  test('a service leaves compiled code for the next start, even if it is killed once it is ready', async () => {
    const cache = join(folder.path, 'compiled')
    const { service } = await startReady({ NODE_COMPILE_CACHE: cache })
    await using _ = service
    service.process.signal('SIGKILL')
    await service.process.gone
    const compiled = await readdir(cache, { recursive: true })
    expect(compiled.length).toBeGreaterThan(1)
  })

  test('a service starts without a folder for compiled code', async () => {
    const { service } = await startReady({ NODE_COMPILE_CACHE: '/dev/null/compiled' })
    await using _ = service
  })

  test('a service reports all faulty settings and exits with 2', async () => {
    const env = { NATS_URL: broker.url, COUNT: '7', BEHAVIOUR: 'good' }
    await using service = await FixtureService.start(program, env)
    const { err, exit } = await service.ended()
    expect(err).toBe('fixture: faulty settings:\n  COUNT=7: must be from 1 to 3\n')
    expect(exit).toEqual({ code: 2, signal: null })
  })

  test('a service takes settings from the file of CONFIG_FILE', async () => {
    const file = join(folder.path, 'config.yaml')
    await writeFile(file, `natsUrl: ${broker.url}\ncount: 7\n`)
    await using faulty = await FixtureService.start(program, { CONFIG_FILE: file })
    const { err, exit } = await faulty.ended()
    expect(err).toBe('fixture: faulty settings:\n  COUNT=7: must be from 1 to 3\n')
    expect(exit).toEqual({ code: 2, signal: null })
    const { service } = await startReady({ CONFIG_FILE: file, NATS_URL: '', COUNT: '1' })
    await using _ = service
    await using missing = await FixtureService.start(program, { CONFIG_FILE: '/nowhere.yaml' })
    expect((await missing.ended()).err).toContain('CONFIG_FILE: there is no file /nowhere.yaml')
  })

  test('a service reports its own faulty settings together with the common ones', async () => {
    await using service = await FixtureService.start(program, { LOG_LEVEL: 'loud', COUNT: '7' })
    const { err, exit } = await service.ended()
    expect(err).toContain('LOG_LEVEL=loud: must be one of')
    expect(err).toContain('COUNT=7: must be from 1 to 3')
    expect(exit).toEqual({ code: 2, signal: null })
  })

  test('a service refuses contradictory settings', async () => {
    await using service = await FixtureService.start(program, { BEHAVIOUR: 'single', COUNT: '2' })
    const { err, exit } = await service.ended()
    expect(err).toContain('BEHAVIOUR and COUNT disagree')
    expect(exit.code).toBe(2)
  })

  test('a service that cannot be created logs the error and exits with 1', async () => {
    await using service = await FixtureService.start(program, {
      NATS_URL: broker.url,
      BEHAVIOUR: 'broken',
    })
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 1, signal: null })
    expect(logLines(out).at(-1)).toMatchObject({
      level: 'fatal',
      message: 'could not start',
      err: { message: 'cannot be built' },
    })
  })

  test('a service waits for its broker, and can be stopped meanwhile', async () => {
    await using service = await FixtureService.start(program, {
      NATS_URL: 'nats://my-token@127.0.0.1:1',
    })
    await service.says('trying again')
    service.process.signal('SIGTERM')
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 0, signal: null })
    expect(out).not.toContain('my-token')
  })
})

test('a service whose credential nats-server refuses later ends with 1 and says so', async () => {
  await using own = await startBroker({ hasAccounts: false })
  const { service } = await startReady({ NATS_URL: own.url })
  await using _ = service
  await own.stop()
  await own.start('another-token')
  const { out, exit } = await service.ended()
  expect(exit).toEqual({ code: 1, signal: null })
  expect(logLines(out).at(-1)).toMatchObject({
    level: 'fatal',
    message: expect.stringContaining('it refuses our credentials; see NATS_URL'),
  })
})

describe('the stop of a service', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'a service drains on %s, disposes and exits with 0',
    async (signal) => {
      const { service } = await startReady()
      await using _ = service
      service.process.signal(signal)
      const { out, exit } = await service.ended()
      expect(exit).toEqual({ code: 0, signal: null })
      expect(serviceLines(out)).toEqual(CLEAN_STOP)
    },
  )

  test('a service exits at once on the second signal', async () => {
    const { service } = await startReady({ BEHAVIOUR: 'stuck' })
    await using _ = service
    const seen: string[] = []
    service.process.stdout?.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
    service.process.signal('SIGTERM')
    await eventually(() => seen.join('').includes('draining'))
    service.process.signal('SIGTERM')
    expect((await service.ended()).exit).toEqual({ code: 1, signal: null })
  }, 8_000)

  test.concurrent('a service disposes when the time for draining is over', async () => {
    const { service } = await startReady({ BEHAVIOUR: 'stuck', DRAIN_LIMIT_MS: '500' })
    await using _ = service
    service.process.signal('SIGTERM')
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 0, signal: null })
    expect(serviceLines(out)).toEqual(['service: draining', 'service: disposed'])
  }, 10_000)

  test('a service ends its drain once nats-server stays away', async () => {
    await using own = await startBroker()
    await using service = await FixtureService.start(program, {
      NATS_URL: own.url,
      BEHAVIOUR: 'stuck',
    })
    await service.says('"action":"ready"')
    service.process.signal('SIGTERM')
    await service.says('draining')
    await own[Symbol.asyncDispose]()
    const { out, exit } = await service.ended()
    expect(exit).toEqual({ code: 0, signal: null })
    expect(serviceLines(out)).toEqual(['service: draining', 'service: disposed'])
    expect(out).toContain('nats-server is gone; what was begun goes on elsewhere')
  }, 20_000)

  test.concurrent('a service that is still being created exits with 1 after 5 more seconds', async () => {
    await using service = await FixtureService.start(program, {
      NATS_URL: broker.url,
      BEHAVIOUR: 'endless',
      DRAIN_LIMIT_MS: '500',
    })
    await service.says('creating')
    service.process.signal('SIGTERM')
    expect((await service.ended()).exit).toEqual({ code: 1, signal: null })
  }, 15_000)

  test('a service keeps working while its successor starts, and drains once the successor is ready', async () => {
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
    expect(serviceLines(out)).toEqual(CLEAN_STOP)
  })

  test('a service drains when its successor does not become ready in time', async () => {
    const { service } = await startReady({ SUCCESSOR_LIMIT_MS: '300' })
    await using _ = service
    service.process.signal('SIGTERM')
    expect((await service.ended()).exit).toEqual({ code: 0, signal: null })
  })

  test('a draining service is healthy and not ready', async () => {
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

  test('a service whose draining fails logs the error, disposes and exits with 1', async () => {
    const { service } = await startReady({ BEHAVIOUR: 'failing' })
    await using _ = service
    service.process.signal('SIGTERM')
    const { out, exit } = await service.ended()
    expect(serviceLines(out)).toEqual(['service: draining', 'service: disposed'])
    expect(logLines(out).at(-1)).toMatchObject({
      level: 'error',
      action: 'drain',
      err: { message: 'cannot drain' },
    })
    expect(exit).toEqual({ code: 1, signal: null })
  })
})
