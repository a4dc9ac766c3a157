import type { ServerResponse } from 'node:http'

import { describe, expect, test } from 'vitest'

import { eventually } from '../test/eventually.ts'
import { HttpServer } from '../test/fixtures/http-server.ts'
import { LEGACY } from '../test/fixtures/memory-endpoint.ts'
import { text } from '../test/fixtures/serve.ts'
import { HostStage } from '../test/host-stage.ts'
import { isAlive } from '../test/processes.ts'
import { textOf } from '../test/text-of.ts'
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
const who = (stage: HostStage): Promise<string> => stage.say('it.who')

/** Who answers so many calls, one after another. */
async function ask(stage: HostStage, count: number): Promise<string> {
  let names = ''
  for (let each = 0; each < count; each += 1) names += await who(stage)
  return names
}

function kill(stage: HostStage, index: number): void {
  const pid = instances(stage)[index]?.pid
  if (pid === undefined) throw new Error('it does not run')
  process.kill(pid, 'SIGKILL')
}

const unavailable = (stage: HostStage, index: number): Promise<unknown> =>
  eventually(() => instances(stage)[index]?.state === 'unavailable')

/** A call that stays under way, and the instance that has it. */
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
  test('are one server to everybody, which takes turns', async () => {
    const stage = await start(['a', 'b', 'c'])
    expect(await ask(stage, 7)).toBe('abcabca')
    const { tools, state, pid, instances: each } = stage.find('it')
    expect(tools.filter(({ name }) => name === 'who')).toHaveLength(1)
    expect([state, pid]).toEqual(['ready', undefined])
    expect(each?.map(({ weight, restarts }) => ({ weight, restarts }))).toEqual(
      Array.from({ length: 3 }, () => ({ weight: 1, restarts: 0 })),
    )
    const pids = each?.flatMap((one) => one.pid ?? []) ?? []
    expect(new Set(pids.filter(isAlive)).size).toBe(3)
    expect(stage.host.getServers()).toHaveLength(1)
    expect(stage.host.getMetrics().servers['it']?.tools['who']).toMatchObject({ success: 7 })
    expect(stage.host.getMetrics().servers['it']?.counters.instances).toEqual([3, 2, 2])
  })

  test('may be a number', async () => {
    const stage = await start([], { instances: 2, balance: 'least-in-flight' })
    const names = [await who(stage), await who(stage)]
    expect(new Set(names)).toEqual(new Set(instances(stage).map(({ pid }) => String(pid))))
  })

  test('get their weight', async () => {
    const stage = await start([], {
      instances: [{ env: { NAME: 'a' }, weight: 3 }, { env: { NAME: 'b' } }],
      balance: 'weighted',
    })
    expect(await ask(stage, 8)).toBe('aabaaaba')
  })

  test('with the fewest calls get the next', async () => {
    const stage = await start(['a', 'b', 'c'], { balance: 'least-in-flight' })
    const { by, outcome } = await hold(stage)
    expect(by).toBe('a')
    expect(await ask(stage, 6)).not.toContain('a')
    kill(stage, 0)
    expect(await outcome).toBeInstanceOf(ServerUnavailableError)
  })

  test('that fail get little', async () => {
    const stage = await start(['a', 'b'], { balance: 'health-scored' })
    expect(await stage.say('it.sicken')).toBe('a')
    let failures = 0
    for (let call = 0; call < 10; call += 1) {
      await stage.say('it.ill').catch(() => (failures += 1))
    }
    // In turns it would be every other.
    expect(failures).toBeGreaterThan(0)
    expect(failures).toBeLessThan(4)
  })

  test('with as many calls as they may have are passed over', async () => {
    const stage = await start(['a', 'b'], { maxConcurrentCalls: 1 })
    const { by } = await hold(stage)
    expect(by).toBe('a')
    expect(await ask(stage, 4)).toBe('bbbb')
  })

  test('with an open circuit are passed over', async () => {
    const stage = await start(['a', 'b'])
    await stage.say('it.sicken')
    await stage.say('it.who')
    for (let turn = 0; turn < 10; turn += 1) await stage.say('it.ill').catch(() => undefined)
    const answers = Array.from({ length: 6 }, () => stage.say('it.ill'))
    expect((await Promise.all(answers)).join('')).toBe('bbbbbb')
  })
})

describe('an instance that ends', () => {
  test.each<BalancePolicy>(['round-robin', 'least-in-flight', 'health-scored'])(
    'under load costs only calls that it has been given, and none is run twice: %s',
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
      // Only what was given to that one before its end, of which nobody can know.
      const ends = new Map(
        stage.lines('request ended').map(({ fields }) => [fields['requestId'], fields]),
      )
      for (const [id, error] of failed) {
        expect(error).toMatchObject({ name: 'ServerUnavailableError', isOutcomeUnknown: true })
        expect(ends.get(String(id))).toMatchObject({ instance: 2, outcome: 'error' })
      }
      // And it takes its part again.
      await eventually(async () => (await who(stage)) === 'b')
    },
    30_000,
  )

  test('takes along what it had begun, unless that is safe to repeat', async () => {
    const stage = await start(['a', 'b'])
    const unsafe = await hold(stage)
    await who(stage)
    const safe = await hold(stage, 'hold-reading')
    expect([unsafe.by, safe.by]).toEqual(['a', 'a'])
    kill(stage, 0)
    expect(await unsafe.outcome).toMatchObject({ isOutcomeUnknown: true, tool: 'hold' })
    const journal = (): Promise<string[]> => stage.workspace.lines('journal')
    await eventually(async () => (await journal()).length === 3)
    expect(await journal()).toEqual(['a hold', 'a hold-reading', 'b hold-reading'])
    await stage.say('it.release')
    expect(await safe.outcome).toBe('b')
  })

  test('leaves its calls to the others, and its lists', async () => {
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

  test('as the last makes the server unavailable, until one is there again', async () => {
    const stage = await start(['a', 'b'], { restart: { policy: 'always' } })
    kill(stage, 0)
    kill(stage, 1)
    await eventually(() => stage.find('it').state === 'unavailable')
    await expect(stage.host.callTool('it.who', {}, { retry: false })).rejects.toMatchObject({
      name: 'ServerUnavailableError',
      isOutcomeUnknown: false,
    })
    // What is safe to repeat, or has not begun, waits for it.
    expect(await stage.say('it.who')).toMatch(/^[ab]$/)
    const { contents } = await stage.host.getResource({ server: 'it', uri: 'a:' })
    expect(contents).toHaveLength(1)
    await allReady(stage)
    expect(stage.find('it').restarts).toBe(2)
  })
})

test('while none is ready, what may wait waits for one that comes back', async () => {
  const stage = await start(['a', 'b'], { restart: { policy: 'on-failure' } })
  await stage.host.callTool('it.exit').catch(() => undefined)
  await unavailable(stage, 0)
  kill(stage, 1)
  await unavailable(stage, 1)
  const { contents } = await stage.host.getResource({ server: 'it', uri: 'a:' })
  expect(contents).toEqual([{ uri: 'a:', text: 'b' }])
  expect(instances(stage).map(({ restarts }) => restarts)).toEqual([0, 1])
})

describe('an instance elsewhere', () => {
  const http = (...servers: readonly HttpServer[]): RemoteServerConfig => ({
    type: 'http',
    url: servers[0]?.url ?? '',
    headers: {},
    instances: servers.map(({ url }) => ({ url })),
  })
  const open = (
    name: string,
    odd: (response: ServerResponse) => unknown = () => text(name),
  ): Promise<HttpServer> =>
    HttpServer.open({
      ...LEGACY,
      'tools/list': () => ({
        tools: ['who', 'odd', 'odd-reading'].map((tool) => ({
          name: tool,
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: tool === 'odd-reading' },
        })),
      }),
      'tools/call': ({ name: tool }, { response }) => {
        if (tool === 'who') return text(name)
        return odd(response)
      },
    })

  test('that cannot be reached costs no call', async () => {
    const [a, b] = [await open('a'), await open('b')]
    const stage = await HostStage.start(() => ({ it: http(a, b) }))
    await allReady(stage)
    expect(await ask(stage, 4)).toBe('abab')
    const { url } = a
    await a.close()
    // Connections that are kept may look alive for a moment.
    await eventually(() =>
      fetch(url).then(
        () => false,
        ({ cause }: Error) => Object(cause).code === 'ECONNREFUSED',
      ),
    )
    expect(await ask(stage, 4)).toBe('bbbb')
    expect(stage.lines('goes to another instance')).not.toEqual([])
    await unavailable(stage, 0)
    expect(stage.find('it').state).toBe('ready')
  })

  test.each<[string, (response: ServerResponse) => unknown]>([
    ['breaks off', (response) => response.destroy()],
    ['answers 502', (response) => response.writeHead(502).end()],
    // It can be a proxy's that lost the server.
    ['answers 503', (response) => response.writeHead(503).end()],
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
    const failed = stage.host.callTool('it.odd')
    await expect(failed).rejects.toMatchObject({ isOutcomeUnknown: true })
    expect(begun).toEqual(['a'])
    expect(await who(stage)).toBe('b')
    expect(await stage.say('it.odd-reading')).toBe('b')
    expect(begun).toEqual(['a', 'a', 'b'])
  })

  test('that refuses leaves the call to others', async () => {
    const a = await open('a', (response) => void response.writeHead(429).end())
    const b = await open('b')
    const stage = await HostStage.start(() => ({ it: http(a, b) }))
    await allReady(stage)
    expect(await stage.say('it.odd')).toBe('b')
  })
})

describe('a call to an instance', () => {
  test('is cancelled there, and reports from there', async () => {
    const stage = await start(['a', 'b'])
    const told: unknown[] = []
    const onProgress = ({ message }: Progress): void => void told.push(message)
    const { outcome } = await hold(stage, 'hold', { requestId: 'r', onProgress })
    expect(await who(stage)).toBe('b')
    expect(await stage.say('it.step')).toBe('a')
    await eventually(() => told.length === 1)
    expect(told).toEqual(['a'])
    stage.host.abort('r')
    expect(await outcome).toMatchObject({ name: 'AbortError' })
    await stage.say('it.who')
    expect(await stage.say('it.heard')).toBe('list,cancelled')
  })

  test('is known as the one that made it ask, whatever the others do', async () => {
    const asked: string[] = []
    const onRequest = (request: ServerRequest): unknown => {
      asked.push(`${request.server} ${request.call?.requestId}`)
      return { action: 'decline' }
    }
    const stage = await start(['a', 'b', 'c'], {}, { onRequest })
    const call = (tool: string, requestId: string): Promise<unknown> =>
      stage.host.callTool(`it.${tool}`, {}, { requestId })
    const { outcome } = await hold(stage, 'hold', { requestId: 'held' })
    await Promise.all([call('ask', 'one'), call('ask', 'two')])
    expect(new Set(asked)).toEqual(new Set(['it one', 'it two']))
    await stage.say('it.release')
    expect(await outcome).toBe('a')
  })
})

describe('what instances tell', () => {
  test('of their lists makes the host ask all of them', async () => {
    const stage = await start(['a', 'b', 'c'])
    const changes: string[] = []
    stage.host.on('list-changed', ({ list }) => changes.push(list))
    await who(stage)
    expect(await stage.say('it.grow')).toBe('b')
    await eventually(() => changes.length > 0)
    const heard = async (): Promise<string[]> =>
      Promise.all([1, 2, 3].map(() => stage.say('it.heard')))
    await eventually(async () => (await heard()).every((each) => each === 'list,list'))
    expect(changes).toEqual(['tools'])
  })

  test('of resources is asked of each, also after a restart', async () => {
    const stage = await start(['a', 'b'], { restart: { policy: 'always' } })
    const updates: string[] = []
    stage.host.on('resource-updated', ({ uri }) => updates.push(uri))
    await stage.host.subscribe('a:')
    await stage.host.setLoggingLevel('error', 'it')
    const heard = (): Promise<string[]> =>
      Promise.all([stage.say('it.heard'), stage.say('it.heard')])
    const asked = 'list,subscribe a:,level error'
    expect(await heard()).toEqual([asked, asked])
    kill(stage, 0)
    await eventually(() => instances(stage)[0]?.restarts === 1)
    await allReady(stage)
    await eventually(async () => (await heard()).every((each) => each === asked))
    for (const count of [1, 2]) {
      await stage.say('it.update', { uri: 'a:' })
      await eventually(() => updates.length === count)
    }
    await stage.host.unsubscribe('a:')
    expect(await heard()).toEqual([`${asked},unsubscribe a:`, `${asked},unsubscribe a:`])
  })
})

describe('a server with instances', () => {
  const BROKEN = { env: { NAME: 'broken' }, args: ['/nowhere/at/all.ts'] }

  test('starts with those that can', async () => {
    const stage = await HostStage.open()
    const servers = { it: config(stage, [], { instances: [BROKEN, { env: { NAME: 'b' } }] }) }
    await stage.host.initialize({ servers })
    expect(await ask(stage, 2)).toBe('bb')
    await unavailable(stage, 0)
  })

  test('does not start when none can', async () => {
    const stage = await HostStage.open()
    const servers = { it: config(stage, [], { instances: [BROKEN, BROKEN] }) }
    await expect(stage.host.initialize({ servers })).rejects.toMatchObject({
      name: 'ServerStartupError',
      server: 'it',
    })
  })

  test('is restarted one instance after another', async () => {
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

  test('is never away when it is reloaded, also when those that stay are not ready', async () => {
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

  test('keeps the instances that stay the same when it is reloaded', async () => {
    const stage = await start(['a', 'b', 'c'])
    const [a, , c] = instances(stage).map(({ pid }) => pid)
    await who(stage)
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
    // The one that left ends with what it has in hand.
    const [pid] = stage.workspace.processes().filter((each) => {
      return !instances(stage).some((kept) => kept.pid === each)
    })
    expect(pid).toBeDefined()
    expect(await Promise.race([outcome, Promise.resolve('still held')])).toBe('still held')
    process.kill(pid ?? 0, 'SIGKILL')
    expect(await outcome).toBeInstanceOf(ServerUnavailableError)
  })
})
