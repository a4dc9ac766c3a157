import type { ServerResponse } from 'node:http'

import { describe, expect, test } from 'vitest'

import { eventually, HttpServer, isAlive, text, textOf } from '@mcp-host/mcp-testkit'
import { LEGACY } from '@mcp-host/upstream/testing'
import { HostStage } from '../test/host-stage.ts'
import {
  type BalancePolicy,
  type InstanceSnapshot,
  type MCPHostOptions,
  type Progress,
  type RemoteServerConfig,
  type ServerRequest,
  ServerUnavailableError,
  type StdioServerConfig,
} from './index.ts'

type Names = readonly string[]

const config = (
  { workspace }: Pick<HostStage, 'workspace'>,
  names: Names,
  more: Partial<StdioServerConfig> = {},
): StdioServerConfig => ({
  ...workspace.fixture('instance', workspace.path('journal')),
  instances: names.map((NAME) => ({ env: { NAME } })),
  ...more,
})

/** A host with instances of these names, all ready, under the name `it`. */
async function start(
  names: Names,
  more: Partial<StdioServerConfig> = {},
  {
    onRequest,
    ...options
  }: Partial<MCPHostOptions> & { onRequest?: (request: ServerRequest) => unknown } = {},
): Promise<HostStage> {
  const stage = await HostStage.open(options)
  if (onRequest !== undefined) stage.host.registerCallback(onRequest)
  await stage.host.initialize({ servers: { it: config(stage, names, more) } })
  await allReady(stage)
  return stage
}

const instances = (stage: HostStage): readonly InstanceSnapshot[] =>
  stage.find('it').instances ?? []
const allReady = (stage: HostStage): Promise<unknown> =>
  eventually(() => instances(stage).every(({ state }) => state === 'ready'))
const nextInstance = (stage: HostStage): Promise<string> => stage.call('it.name')

/** The names of the instances that answer `count` calls, one after another. */
async function ask(stage: HostStage, count: number): Promise<string> {
  let names = ''
  for (let each = 0; each < count; each += 1) names += await nextInstance(stage)
  return names
}

function kill(stage: HostStage, index: number): void {
  const pid = instances(stage)[index]?.pid
  if (pid === undefined) throw new Error('the instance does not run')
  process.kill(pid, 'SIGKILL')
}

const unavailable = (stage: HostStage, index: number): Promise<unknown> =>
  eventually(() => instances(stage)[index]?.state === 'unavailable')

/** Starts a call that stays in flight, and finds the instance that received it. */
async function hold(
  stage: HostStage,
  tool = 'hold',
  options: Parameters<HostStage['host']['callTool']>[2] = {},
): Promise<{ readonly by: string; readonly outcome: Promise<unknown> }> {
  const before = (await stage.workspace.lines('journal')).length
  const outcome = stage.host
    .callTool(`it.${tool}`, {}, options)
    .then(textOf)
    .catch((error: unknown) => error)
  const line = await eventually(async () => (await stage.workspace.lines('journal'))[before])
  return { by: line.split(' ')[0] ?? '', outcome }
}

describe('instances', () => {
  test('instances are listed as one server and called in turn', async () => {
    const stage = await start(['a', 'b', 'c'])
    expect(await ask(stage, 7)).toBe('abcabca')
    const { tools, state, pid, instances: each } = stage.find('it')
    expect(tools.filter(({ name }) => name === 'name')).toHaveLength(1)
    expect([state, pid]).toEqual(['ready', undefined])
    expect(each?.map(({ weight, restarts }) => ({ weight, restarts }))).toEqual(
      Array.from({ length: 3 }, () => ({ weight: 1, restarts: 0 })),
    )
    const pids = each?.flatMap((one) => one.pid ?? []) ?? []
    expect(new Set(pids.filter(isAlive)).size).toBe(3)
    expect(stage.host.getServers()).toHaveLength(1)
    expect(stage.host.getMetrics().servers['it']?.tools['name']).toMatchObject({ success: 7 })
    expect(stage.host.getMetrics().servers['it']?.counters.instances).toEqual([3, 2, 2])
  })

  test('the instances of a server may be a number', async () => {
    const stage = await start([], { instances: 2, balance: 'least-in-flight' })
    const names = [await nextInstance(stage), await nextInstance(stage)]
    expect(new Set(names)).toEqual(new Set(instances(stage).map(({ pid }) => String(pid))))
  })

  test('instances are called by their weight', async () => {
    const stage = await start([], {
      instances: [{ env: { NAME: 'a' }, weight: 3 }, { env: { NAME: 'b' } }],
      balance: 'weighted',
    })
    expect(await ask(stage, 8)).toBe('aabaaaba')
  })

  test('the instance with the fewest calls in flight gets the next call', async () => {
    const stage = await start(['a', 'b', 'c'], { balance: 'least-in-flight' })
    const { by, outcome } = await hold(stage)
    expect(by).toBe('a')
    expect(await ask(stage, 6)).not.toContain('a')
    kill(stage, 0)
    expect(await outcome).toBeInstanceOf(ServerUnavailableError)
  })

  test('a failing instance gets few calls', async () => {
    const stage = await start(['a', 'b'], { balance: 'health-scored' })
    expect(await stage.call('it.break')).toBe('a')
    let failures = 0
    for (let call = 0; call < 10; call += 1) {
      await stage.call('it.faulty').catch(() => (failures += 1))
    }
    // Round-robin would send every other call.
    expect(failures).toBeGreaterThan(0)
    expect(failures).toBeLessThan(4)
  })

  test('an instance at its limit of concurrent calls is skipped', async () => {
    const stage = await start(['a', 'b'], { maxConcurrentCalls: 1 })
    const { by } = await hold(stage)
    expect(by).toBe('a')
    expect(await ask(stage, 4)).toBe('bbbb')
  })

  test('an instance with an open circuit is skipped', async () => {
    const stage = await start(['a', 'b'])
    await stage.call('it.break')
    await stage.call('it.name')
    for (let call = 0; call < 10; call += 1) await stage.call('it.faulty').catch(() => undefined)
    const answers = Array.from({ length: 6 }, () => stage.call('it.faulty'))
    expect((await Promise.all(answers)).join('')).toBe('bbbbbb')
  })
})

describe('an instance that ends', () => {
  test.each<BalancePolicy>(['round-robin', 'least-in-flight', 'health-scored'])(
    'an instance that exits under load fails only calls that it had received, and no call runs twice: %s',
    async (balance) => {
      const stage = await start(['a', 'b', 'c'], { balance, restart: { policy: 'always' } })
      const failed = new Map<number, unknown>()
      const done = new Map<number, string>()
      let next = 0
      const isOver = (): boolean => done.size > 1500 && instances(stage)[1]?.restarts === 1
      const work = async (): Promise<void> => {
        while (!isOver()) {
          const id = next++
          await stage.host
            .callTool('it.work', { id, ms: 5 }, { requestId: String(id) })
            .then((result) => done.set(id, textOf(result)))
            .catch((error: unknown) => failed.set(id, error))
        }
      }
      const workers = Array.from({ length: 24 }, work)
      await eventually(() => done.size > 300)
      kill(stage, 1)
      await Promise.all(workers)
      await allReady(stage)

      const journal = await stage.workspace.lines('journal')
      const begun = journal.map((line) => line.split(' '))
      expect(new Set(begun.map(([, id]) => id)).size).toBe(begun.length)
      expect(done.size + failed.size).toBe(next)
      for (const [id, answer] of done) expect([id, ...journal]).toContain(answer)
      // Only calls that the instance had received before its exit, whose outcome is unknown.
      const ends = new Map(
        stage.lines('request ended').map(({ fields }) => [fields['requestId'], fields]),
      )
      for (const [id, error] of failed) {
        expect(error).toMatchObject({ name: 'ServerUnavailableError', isOutcomeUnknown: true })
        expect(ends.get(String(id))).toMatchObject({ instance: 2, outcome: 'error' })
      }
      // The restarted instance gets calls again.
      await eventually(async () => (await nextInstance(stage)) === 'b')
    },
    30_000,
  )

  test('calls in flight fail with an instance that exits, unless they are safe to repeat', async () => {
    const stage = await start(['a', 'b'])
    const unsafe = await hold(stage)
    await nextInstance(stage)
    const safe = await hold(stage, 'hold-reading')
    expect([unsafe.by, safe.by]).toEqual(['a', 'a'])
    kill(stage, 0)
    expect(await unsafe.outcome).toMatchObject({ isOutcomeUnknown: true, tool: 'hold' })
    const journal = (): Promise<string[]> => stage.workspace.lines('journal')
    await eventually(async () => (await journal()).length === 3)
    expect(await journal()).toEqual(['a hold', 'a hold-reading', 'b hold-reading'])
    await stage.call('it.release')
    expect(await safe.outcome).toBe('b')
  })

  test('an instance that exits leaves its calls and its listing to the other instances', async () => {
    const stage = await start(['a', 'b', 'c'])
    const before = stage.toolsOf('it')
    kill(stage, 0)
    await unavailable(stage, 0)
    expect(stage.find('it')).toMatchObject({ state: 'ready', resources: [{ uri: 'a:' }] })
    expect(stage.find('it').error).toBeUndefined()
    expect(instances(stage)[0]?.error?.message).toBe('the server "it" was ended by SIGKILL')
    expect(stage.toolsOf('it')).toEqual(before)
    expect(await ask(stage, 4)).toBe('bcbc')
    expect(stage.host.getMetrics().servers['it']?.calls).toMatchObject({ success: 4, refused: 0 })
  })

  test('a server is unavailable from the exit of its last instance until one is ready again', async () => {
    const stage = await start(['a', 'b'], { restart: { policy: 'always' } })
    kill(stage, 0)
    kill(stage, 1)
    await eventually(() => stage.find('it').state === 'unavailable')
    await expect(stage.host.callTool('it.name', {}, { retry: false })).rejects.toMatchObject({
      name: 'ServerUnavailableError',
      isOutcomeUnknown: false,
    })
    // Calls that are safe to repeat, or were not sent, wait for an instance.
    expect(await stage.call('it.name')).toMatch(/^[ab]$/)
    const { contents } = await stage.host.getResource({ server: 'it', uri: 'a:' })
    expect(contents).toHaveLength(1)
    await allReady(stage)
    expect(stage.find('it').restarts).toBe(2)
  })
})

test('calls that may wait are sent once an instance is ready again', async () => {
  const stage = await start(['a', 'b'], { restart: { policy: 'on-failure' } })
  await stage.host.callTool('it.exit').catch(() => undefined)
  await unavailable(stage, 0)
  kill(stage, 1)
  await unavailable(stage, 1)
  const { contents } = await stage.host.getResource({ server: 'it', uri: 'a:' })
  expect(contents).toEqual([{ uri: 'a:', text: 'b' }])
  expect(instances(stage).map(({ restarts }) => restarts)).toEqual([0, 1])
})

describe('a remote instance', () => {
  const http = (...servers: readonly HttpServer[]): RemoteServerConfig => ({
    type: 'http',
    url: servers[0]?.url ?? '',
    headers: {},
    instances: servers.map(({ url }) => ({ url })),
  })
  const open = (
    name: string,
    faulty: (response: ServerResponse) => unknown = () => text(name),
  ): Promise<HttpServer> =>
    HttpServer.open({
      ...LEGACY,
      'tools/list': () => ({
        tools: ['name', 'faulty', 'faulty-reading'].map((tool) => ({
          name: tool,
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: tool === 'faulty-reading' },
        })),
      }),
      'tools/call': ({ name: tool }, { response }) => {
        if (tool === 'name') return text(name)
        return faulty(response)
      },
    })

  test('a remote instance that cannot be reached fails no call', async () => {
    const [a, b] = [await open('a'), await open('b')]
    const stage = await HostStage.start(() => ({ it: http(a, b) }))
    await allReady(stage)
    expect(await ask(stage, 4)).toBe('abab')
    const { url } = a
    await a.close()
    // Connections that are kept alive may look open for a moment.
    await eventually(() =>
      fetch(url).then(
        () => false,
        ({ cause }: Error) => Object(cause).code === 'ECONNREFUSED',
      ),
    )
    expect(await ask(stage, 4)).toBe('bbbb')
    expect(stage.lines('was sent again and succeeded')).not.toEqual([])
    await unavailable(stage, 0)
    expect(stage.find('it').state).toBe('ready')
  })

  test.each<[string, (response: ServerResponse) => unknown]>([
    ['breaks off', (response) => response.destroy()],
    ['answers 502', (response) => response.writeHead(502).end()],
    // A proxy that lost its server may answer this.
    [
      'a call to a remote instance that %s is retried elsewhere only if that is safe',
      (response) => response.writeHead(503).end(),
    ],
  ])('that %s leaves nothing to others, unless that is safe', async (_title, fail) => {
    const begun: string[] = []
    const a = await open('a', (response) => {
      begun.push('a')
      fail(response)
    })
    const b = await open('b', () => {
      begun.push('b')
      return text('b')
    })
    const stage = await HostStage.start(() => ({ it: http(a, b) }))
    await allReady(stage)
    const failed = stage.host.callTool('it.faulty')
    await expect(failed).rejects.toMatchObject({ isOutcomeUnknown: true })
    expect(begun).toEqual(['a'])
    expect(await nextInstance(stage)).toBe('b')
    expect(await stage.call('it.faulty-reading')).toBe('b')
    expect(begun).toEqual(['a', 'a', 'b'])
  })

  test('a call that a remote instance refuses is sent to another', async () => {
    const a = await open('a', (response) => void response.writeHead(429).end())
    const b = await open('b')
    const stage = await HostStage.start(() => ({ it: http(a, b) }))
    await allReady(stage)
    expect(await stage.call('it.faulty')).toBe('b')
  })
})

describe('a call to an instance', () => {
  test('a call is cancelled at its instance, and gets progress from its instance', async () => {
    const stage = await start(['a', 'b'])
    const messages: unknown[] = []
    const onProgress = ({ message }: Progress): void => void messages.push(message)
    const { outcome } = await hold(stage, 'hold', { requestId: 'r', onProgress })
    expect(await nextInstance(stage)).toBe('b')
    expect(await stage.call('it.step')).toBe('a')
    await eventually(() => messages.length === 1)
    expect(messages).toEqual(['a'])
    stage.host.abort('r')
    expect(await outcome).toMatchObject({ name: 'AbortError' })
    await stage.call('it.name')
    expect(await stage.call('it.received')).toBe('list,cancelled')
  })

  test('a server request names the call of its instance, whatever calls other instances have', async () => {
    const messages: string[] = []
    const onRequest = (request: ServerRequest): unknown => {
      messages.push(`${request.server} ${request.call?.requestId}`)
      return { action: 'decline' }
    }
    const stage = await start(['a', 'b', 'c'], {}, { onRequest })
    const call = (tool: string, requestId: string): Promise<unknown> =>
      stage.host.callTool(`it.${tool}`, {}, { requestId })
    const { outcome } = await hold(stage, 'hold', { requestId: 'held' })
    await Promise.all([call('ask', 'one'), call('ask', 'two')])
    expect(new Set(messages)).toEqual(new Set(['it one', 'it two']))
    await stage.call('it.release')
    expect(await outcome).toBe('a')
  })
})

describe('notifications of instances', () => {
  test('a changed list of one instance makes the host list the tools of all instances', async () => {
    const stage = await start(['a', 'b', 'c'])
    const changes: string[] = []
    stage.host.on('list-changed', ({ list }) => changes.push(list))
    await nextInstance(stage)
    expect(await stage.call('it.grow')).toBe('b')
    await eventually(() => changes.length > 0)
    const received = async (): Promise<string[]> =>
      Promise.all([1, 2, 3].map(() => stage.call('it.received')))
    await eventually(async () => (await received()).every((each) => each === 'list,list'))
    expect(changes).toEqual(['tools'])
  })

  test('a subscription reaches each instance, and is repeated after a restart', async () => {
    const stage = await start(['a', 'b'], { restart: { policy: 'always' } })
    const updates: string[] = []
    stage.host.on('resource-updated', ({ uri }) => updates.push(uri))
    await stage.host.subscribe('a:')
    await stage.host.setLoggingLevel('error', 'it')
    const received = (): Promise<string[]> =>
      Promise.all([stage.call('it.received'), stage.call('it.received')])
    const messages = 'list,subscribe a:,level error'
    expect(await received()).toEqual([messages, messages])
    kill(stage, 0)
    await eventually(() => instances(stage)[0]?.restarts === 1)
    await allReady(stage)
    await eventually(async () => (await received()).every((each) => each === messages))
    for (const count of [1, 2]) {
      await stage.call('it.update', { uri: 'a:' })
      await eventually(() => updates.length === count)
    }
    await stage.host.unsubscribe('a:')
    expect(await received()).toEqual([`${messages},unsubscribe a:`, `${messages},unsubscribe a:`])
  })
})

describe('a server with instances', () => {
  const BROKEN = { env: { NAME: 'broken' }, args: ['/nowhere/at/all.ts'] }

  test('a server starts with the instances that can start', async () => {
    const stage = await HostStage.open()
    const servers = { it: config(stage, [], { instances: [BROKEN, { env: { NAME: 'b' } }] }) }
    await stage.host.initialize({ servers })
    expect(await ask(stage, 2)).toBe('bb')
    await unavailable(stage, 0)
  })

  test('a server does not start when none of its instances can', async () => {
    const stage = await HostStage.open()
    const servers = { it: config(stage, [], { instances: [BROKEN, BROKEN] }) }
    await expect(stage.host.initialize({ servers })).rejects.toMatchObject({
      name: 'ServerStartupError',
      server: 'it',
    })
  })

  test('a server is restarted one instance after another', async () => {
    const stage = await start(['a', 'b'])
    const states: string[] = []
    stage.host.on('server', ({ server }) => states.push(server.state))
    const before = instances(stage).map(({ pid }) => pid)
    await stage.host.restart('it')
    expect(instances(stage)).toMatchObject([
      { state: 'ready', restarts: 1 },
      { state: 'ready', restarts: 1 },
    ])
    for (const { pid } of instances(stage)) expect(before).not.toContain(pid)
    expect(new Set(states)).toEqual(new Set(['ready']))
  })

  test('a reload keeps a server ready, even when its unchanged instances are not ready', async () => {
    const stage = await HostStage.open()
    const it = (NAME: string): StdioServerConfig =>
      config(stage, [], { instances: [BROKEN, { env: { NAME } }] })
    await stage.host.initialize({ servers: { it: it('a') } })
    await unavailable(stage, 0)
    const states: string[] = []
    stage.host.on('server', ({ server }) => states.push(server.state))
    await stage.host.reload({ servers: { it: it('b') } })
    expect(await ask(stage, 2)).toBe('bb')
    expect(new Set(states)).toEqual(new Set(['ready']))
  })

  test('a reload keeps the instances whose configuration is unchanged', async () => {
    const stage = await start(['a', 'b', 'c'])
    const [a, , c] = instances(stage).map(({ pid }) => pid)
    await nextInstance(stage)
    const { by, outcome } = await hold(stage)
    expect(by).toBe('b')
    const weighted = [
      { env: { NAME: 'c' } },
      { env: { NAME: 'a' }, weight: 2 },
      { env: { NAME: 'd' } },
    ]
    const report = await stage.host.reload({
      servers: { it: config(stage, [], { instances: weighted }) },
    })
    expect(report.changed).toEqual(['it'])
    await allReady(stage)
    expect(instances(stage)).toMatchObject([
      { pid: c, weight: 1, restarts: 0 },
      { pid: a, weight: 2, restarts: 0 },
      { weight: 1, state: 'ready' },
    ])
    const names = await ask(stage, 8)
    expect(['a', 'c', 'd'].map((name) => names.split(name).length - 1)).toEqual([4, 2, 2])
    // The removed instance stays until its call in flight ends.
    const [pid] = stage.workspace.processes().filter((each) => {
      return !instances(stage).some((instance) => instance.pid === each)
    })
    expect(pid).toBeDefined()
    expect(await Promise.race([outcome, Promise.resolve('still held')])).toBe('still held')
    process.kill(pid ?? 0, 'SIGKILL')
    expect(await outcome).toBeInstanceOf(ServerUnavailableError)
  })
})
