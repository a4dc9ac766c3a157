// Placement of servers on supervisors, and the loss of supervisors.
import { readFile, writeFile } from 'node:fs/promises'
import type { Bus, CatalogView } from '@mcp-host/bus'
import type { ServerInstance, ServerName, SessionId } from '@mcp-host/contracts'
import {
  BusError,
  generationId,
  newEnvelope,
  newSessionId,
  runTool,
  serverPauses,
  supervisorControl,
  toolCallId,
  viewServers,
} from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { eventually, family, isAlive, runProgram, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const IDLE_MS = 1_500
const ACCEPT_MS = 1_000
const echo = {
  name: 'echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}
const slow = { name: 'slow', inputSchema: { type: 'object' }, delayMs: 150 }

let stack: Stack
let bus: Bus
let catalog: CatalogView
/** The running supervisors, by process id. */
const supervisors = new Map<number, { signal(name: NodeJS.Signals): void }>()

beforeAll(async () => {
  stack = await startStack({
    tools: [echo, slow],
    servers: {
      many: { placement: 'every' },
      own: { scope: 'session', idleTimeoutMs: IDLE_MS },
      kept: { scope: 'session' },
    },
  })
  bus = await stack.broker.connect('orchestrator')
  catalog = await bus.catalog.watch()
  const first = stack.pids()['mcp-supervisor'] ?? 0
  supervisors.set(first, { signal: (name) => void process.kill(first, name) })
})
afterAll(() => stack[Symbol.asyncDispose]())

// Each test starts with two supervisors.
beforeEach(async () => {
  while (supervisors.size < 2) {
    const { pid, process: added } = await stack.add('mcp-supervisor')
    supervisors.set(pid, added)
  }
  await eventually(() => instances('many').filter(isReady).length === 2, { what: 'both replicas' })
  await eventually(() => instances('test').some(isReady), { what: 'the server of one' })
  for (const each of ['own', 'kept']) {
    await eventually(() => instances(each).some(isReady), { what: 'the servers for sessions' })
  }
})

function instances(server: string): readonly ServerInstance[] {
  const views = viewServers(catalog.entries.values())
  return views.find((view) => view.server === server)?.instances ?? []
}

function isReady({ entry }: ServerInstance): boolean {
  return entry.state === 'ready'
}

/** The process of a server, once it is ready. */
async function serverPid(server: string): Promise<number> {
  return eventually(() => instances(server).find(isReady)?.entry.pid, { what: `${server}, ready` })
}

/** The supervisor that is the parent of a process. */
async function supervisorOf(pid: number): Promise<number> {
  return eventually(
    async () => {
      for (const each of supervisors.keys()) if ((await family(each)).includes(pid)) return each
      return undefined
    },
    { what: `the supervisor of process ${pid}` },
  )
}

function kill(supervisor: number): void {
  supervisors.get(supervisor)?.signal('SIGKILL')
  supervisors.delete(supervisor)
}

let calls = 0

/** Requests a call as an orchestrator does. Returns its supervisor and a function that waits for its end. */
async function dispatch(
  server: string,
  session: SessionId,
  tool = 'echo',
): Promise<{ supervisor: string; end: () => Promise<string> }> {
  const call = toolCallId(generationId(session, 0), calls++)
  const request = { session, call, attempt: 1, tool, arguments: { text: call }, after: 0 }
  const { supervisor } = await eventually(
    async () => {
      try {
        const envelope = newEnvelope('local')
        const options = { envelope, timeoutMs: ACCEPT_MS, expires: true }
        return await bus.call(runTool, { server }, request, options)
      } catch (error) {
        // The supervisor died or froze. A retry is safe, because an attempt runs once.
        if (!['unavailable', 'deadline'].includes(BusError.from(error).code)) throw error
        return undefined
      }
    },
    { what: `somebody who takes a call of ${server}` },
  )
  const result = async (): Promise<string | undefined> => {
    for (const { kind, fact } of await bus.sessions.read(session, 0)) {
      if (kind === 'tool' && fact.type === 'tool-finished' && fact.call === call) {
        return fact.error?.message ?? fact.outcome
      }
    }
    return undefined
  }
  return { supervisor, end: () => eventually(result, { what: `the end of call ${call}` }) }
}

/** Calls a tool and returns the process that ran it. */
async function callEcho(server: string, session: SessionId = newSessionId()): Promise<number> {
  const number = calls
  const { end } = await dispatch(server, session)
  expect(await end()).toBe('ok')
  const text = toolCallId(generationId(session, 0), number)
  const line = (await stack.journal()).find(
    ({ arguments: given }) => (given as { text?: string }).text === text,
  )
  return line?.pid ?? 0
}

async function isGone(pid: number): Promise<void> {
  await eventually(async () => !(await isAlive(pid)), { what: `the end of process ${pid}` })
}

test('a server with the placement policy one moves when its supervisor is killed', async () => {
  const before = await serverPid('test')
  expect(await callEcho('test')).toBe(before)
  expect(instances('test')).toHaveLength(1)
  kill(await supervisorOf(before))
  const after = await callEcho('test')
  expect(after).not.toBe(before)
  await isGone(before)
  // The dead supervisor and its servers have left the catalog.
  await eventually(() => instances('test').length === 1 && instances('many').length === 1)
  expect(await serverPid('test')).toBe(after)
})

test('a further supervisor does not move running servers', async () => {
  const before = await serverPid('test')
  const { pid, process: added } = await stack.add('mcp-supervisor')
  supervisors.set(pid, added)
  await eventually(() => instances('many').filter(isReady).length === 3)
  expect(await callEcho('test')).toBe(before)
  kill(pid)
  await eventually(() => instances('many').length === 2)
  expect(await callEcho('test')).toBe(before)
})

test('a stopping supervisor hands over its servers, and no call is lost', async () => {
  const before = await serverPid('test')
  const leaving = await supervisorOf(before)
  const ends: Promise<string>[] = []
  for (let index = 0; index < 5; index++) {
    ends.push((await dispatch('test', newSessionId(), 'slow')).end())
  }
  supervisors.get(leaving)?.signal('SIGTERM')
  supervisors.delete(leaving)
  for (let index = 0; index < 5; index++) {
    ends.push((await dispatch('test', newSessionId(), 'slow')).end())
  }
  expect(await Promise.all(ends)).toEqual(Array.from({ length: 10 }, () => 'ok'))
  await isGone(before)
  await isGone(leaving)
})

test('a frozen supervisor loses its server and ends it when it thaws', async () => {
  const before = await serverPid('test')
  const frozen = await supervisorOf(before)
  supervisors.get(frozen)?.signal('SIGSTOP')
  try {
    const taken = await eventually(
      () => instances('test').find(({ entry }) => isReady({ entry }) && entry.pid !== before),
      { what: 'another that runs it' },
    )
    expect(await callEcho('test')).toBe(taken.entry.pid)
  } finally {
    supervisors.get(frozen)?.signal('SIGCONT')
  }
  await isGone(before)
  expect(await isAlive(frozen)).toBe(true)
  await eventually(() => instances('many').filter(isReady).length === 2, { what: 'its return' })
})

test('a server with the placement policy every loses only the calls in flight of a dead supervisor', async () => {
  const outcomes: { supervisor: string; result: string | undefined }[] = []
  let isKilled = false
  const lane = async (): Promise<void> => {
    for (let index = 0; index < 12; index++) {
      const { supervisor, end } = await dispatch('many', newSessionId(), 'slow')
      // A call at a dead supervisor has no end; the orchestrator finds that out by probes.
      const dead = eventually(() => isKilled && !isPresent(supervisor)).then(() => undefined)
      dead.catch(() => undefined)
      outcomes.push({ supervisor, result: await Promise.race([end(), dead]) })
    }
  }
  const lanes = Array.from({ length: 4 }, lane)
  await eventually(() => outcomes.length > 8)
  const [victim = 0] = supervisors.keys()
  kill(victim)
  isKilled = true
  await Promise.all(lanes)
  const lost = outcomes.filter(({ result }) => result === undefined)
  expect(outcomes).toHaveLength(48)
  expect(lost.length).toBeLessThanOrEqual(4)
  expect(outcomes.filter(({ result }) => result !== undefined && result !== 'ok')).toEqual([])
})

function isPresent(supervisor: string): boolean {
  return catalog.entries.has(`supervisor.${supervisor}`)
}

test('sessions have dedicated processes across supervisors until they are idle', async () => {
  const [one, other] = [newSessionId(), newSessionId()]
  // Dedicated processes start with their first call.
  expect(instances('own').map(({ entry }) => entry.pid)).toEqual([undefined])
  const [first, second] = await Promise.all([callEcho('own', one), callEcho('own', other)])
  expect(first).not.toBe(second)
  // The queue group delivers calls to any replica.
  const again = await Promise.all(Array.from({ length: 8 }, () => callEcho('own', one)))
  expect(new Set(again)).toEqual(new Set([first]))
  await isGone(second)
  await isGone(first)
  await eventually(async () => (await bus.leases.holder(`session.own.${one}`)) === undefined)
  expect(await callEcho('own', one)).not.toBe(first)
})

test('two concurrent first calls of a session share its process', async () => {
  const session = newSessionId()
  const pids = await Promise.all(Array.from({ length: 6 }, () => callEcho('own', session)))
  expect(new Set(pids).size).toBe(1)
})

test('a session whose supervisor is killed gets another process, other sessions keep theirs', async () => {
  // Enough sessions that both supervisors have some.
  const sessions = Array.from({ length: 8 }, newSessionId)
  const before = await Promise.all(sessions.map((session) => callEcho('kept', session)))
  const owners = await Promise.all(before.map(supervisorOf))
  const [victim = 0] = owners
  kill(victim)
  const after = await Promise.all(sessions.map((session) => callEcho('kept', session)))
  for (const [index, owner] of owners.entries()) {
    if (owner === victim) expect(after[index]).not.toBe(before[index])
    else expect(after[index]).toBe(before[index])
  }
})

test('a server keeps its process through a long outage of the broker', async () => {
  const before = await serverPid('test')
  await stack.broker.kill()
  await new Promise((passed) => setTimeout(passed, 6_500))
  await stack.broker.start()
  await eventually(() => instances('test').some(isReady), { what: 'its return' })
  expect(await callEcho('test')).toBe(before)
})

test('a changed configuration restarts only changed servers, an invalid one none', async () => {
  const before = { test: await serverPid('test'), many: await manyPids() }
  const good = await readFile(stack.mcpJson, 'utf8')
  const { servers } = JSON.parse(good) as { servers: Record<string, object> }
  const more = {
    ...servers,
    extra: servers['test'],
    many: { ...servers['many'], timeoutMs: 5_000 },
  }
  try {
    await writeFile(stack.mcpJson, JSON.stringify({ servers: more }))
    await serverPid('extra')
    await eventually(async () => (await manyPids()).every((pid) => !before.many.includes(pid)))
    await eventually(async () => (await manyPids()).length === 2)
    expect(await serverPid('test')).toBe(before.test)

    await writeFile(stack.mcpJson, '{ "servers": { "test": ')
    await eventually(() => faults().length === 2, { what: 'both to say what is wrong' })
    expect(faults()[0]).toContain('mcp.json')
    expect(await serverPid('test')).toBe(before.test)
    expect(await serverPid('extra')).toBeGreaterThan(0)
  } finally {
    await writeFile(stack.mcpJson, good)
  }
  await eventually(() => instances('extra').length === 0)
  await eventually(async () => !JSON.stringify(await mcp('tools/list')).includes('extra__echo'), {
    what: 'a gateway that offers it no more',
  })
  expect(await mcp('tools/call', { name: 'extra__echo' })).toMatchObject({
    error: { code: -32_602 },
  })
  await eventually(() => faults().length === 0)
  expect(await serverPid('test')).toBe(before.test)
})

async function mcp(method: string, params: object = {}): Promise<unknown> {
  const response = await fetch(`${stack.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return response.json()
}

async function manyPids(): Promise<number[]> {
  return instances('many')
    .filter(isReady)
    .map(({ entry }) => entry.pid ?? 0)
}

function faults(): string[] {
  return Array.from(catalog.entries.values())
    .filter((entry) => entry.kind === 'supervisor')
    .flatMap((entry) => (entry.faults === undefined ? [] : [entry.faults]))
}

test('a server is restarted by command at its supervisor', async () => {
  const before = await serverPid('test')
  const restart = (supervisor: string, server: string): Promise<unknown> =>
    bus.call(
      supervisorControl,
      { supervisor },
      { action: 'restart', server: server as ServerName },
      { envelope: newEnvelope('local'), timeoutMs: 10_000 },
    )
  const here = instances('test')[0]?.entry.supervisor ?? ''
  const elsewhere = instances('many').find(({ entry }) => entry.supervisor !== here)
  const notFound = { code: 'not-found' }
  await expect(restart(elsewhere?.entry.supervisor ?? '', 'test')).rejects.toMatchObject(notFound)
  await expect(restart(here, 'nothing')).rejects.toMatchObject(notFound)
  await restart(here, 'test')
  await eventually(async () => (await serverPid('test')) !== before)
  expect(instances('test')[0]?.entry.supervisor).toBe(here)
  expect(await callEcho('test')).toBe(await serverPid('test'))
})

test('a paused server runs nowhere until its time is over, or somebody restarts it', async () => {
  const pauses = await bus.bucket(serverPauses)
  const pause = async (forMs: number): Promise<number> => {
    const before = await serverPid('test')
    await pauses.put('test', { until: pauses.now() + forMs, times: 1 })
    await isGone(before)
    const isPaused = ({ entry: { state, error = '' } }: ServerInstance): boolean =>
      state === 'unavailable' && error.startsWith('paused until')
    await eventually(() => instances('test').filter(isPaused).length === 2, { what: 'both pauses' })
    return before
  }
  const first = await pause(600_000)
  const restart = ['servers', '--nats', stack.broker.url, 'restart', 'test']
  await using program = await runProgram(restart, stack.broker.env)
  expect(await program.ended()).toMatchObject({ code: 0 })
  expect(await callEcho('test')).not.toBe(first)
  const second = await pause(1_000)
  expect(await serverPid('test')).not.toBe(second)
})

test('`npm run servers` lists servers with their supervisors, and its commands work', async () => {
  const run = async (...args: string[]): Promise<{ code: number | null; output: string }> => {
    await using program = await runProgram(
      ['servers', '--nats', stack.broker.url, ...args],
      stack.broker.env,
    )
    const { code } = await program.ended()
    return { code, output: program.output() }
  }
  const before = await serverPid('test')
  const table = await run()
  expect(table.code).toBe(0)
  expect(table.output).toMatch(new RegExp(`^test +ready +stdio.* ${before} +\\d+ +2 `, 'm'))
  expect(table.output.match(/^many +ready/gm)).toHaveLength(2)
  const rows = JSON.parse((await run('--json')).output) as { name: string; pid?: number }[]
  expect(rows.find(({ name }) => name === 'test')?.pid).toBe(before)

  expect(await run('restart', 'test')).toMatchObject({ code: 0 })
  await eventually(async () => (await serverPid('test')) !== before)
  const nothing = await run('restart', 'nothing')
  expect(nothing.code).toBe(1)
  expect(nothing.output).toContain(
    'there is no MCP server "nothing"; there are kept, many, own, test',
  )
  const reloaded = await run('reload')
  expect(reloaded.code).toBe(0)
  expect(reloaded.output.match(/unchanged test, many, own, kept/g)).toHaveLength(2)
  expect((await run('begin')).code).toBe(2)
})
