// A server of several instances behind a whole host: distribution of calls, and the loss of an instance.
import { readFile, writeFile } from 'node:fs/promises'
import type { CatalogView } from '@mcp-host/bus'
import type { ServerEntry } from '@mcp-host/contracts'
import type { Stack } from '@mcp-host/testkit'
import { eventually, isAlive, startStack } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }

let stack: Stack
let catalog: CatalogView
beforeAll(async () => {
  stack = await startStack({
    tools: [
      { name: 'echo', inputSchema },
      { name: 'slow', inputSchema, delayMs: 40 },
    ],
    servers: { many: { instances: 3, restart: 'always' } },
  })
  const bus = await stack.broker.connect()
  catalog = await bus.catalog.watch()
})
afterAll(() => stack[Symbol.asyncDispose]())

function instances(): NonNullable<ServerEntry['instances']> {
  const entries = Array.from(catalog.entries.values())
  const entry = entries.find((each) => each.kind === 'server' && each.server === 'many')
  return entry?.kind === 'server' ? (entry.instances ?? []) : []
}

async function pidsOnceReady(count: number): Promise<number[]> {
  return eventually(
    () => {
      const ready = instances().filter(({ state }) => state === 'ready')
      const isSettled = ready.length === count && instances().length === count
      return isSettled ? ready.map(({ pid = 0 }) => pid) : undefined
    },
    { what: `${count} instances` },
  )
}

async function call(tool: string, text: string): Promise<{ status: number; reason: unknown }> {
  const response = await fetch(`${stack.url}/mcp/tools/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: `many__${tool}`, arguments: { text } }),
  })
  const body = (await response.json()) as { error?: { reason?: unknown } }
  return { status: response.status, reason: body.error?.reason }
}

/** The processes that ran calls with these texts. */
async function ran(prefix: string): Promise<{ text: string; pid: number }[]> {
  return (await stack.journal()).flatMap(({ arguments: given, pid }) => {
    const { text } = given as { text: string }
    return text.startsWith(prefix) ? [{ text, pid }] : []
  })
}

test('calls are distributed over the instances of a server', async () => {
  const pids = await pidsOnceReady(3)
  for (let index = 0; index < 9; index++) await call('echo', `spread-${index}`)
  const counts = Map.groupBy(await ran('spread-'), ({ pid }) => pid)
  expect(pids.map((pid) => counts.get(pid)?.length)).toEqual([3, 3, 3])
})

test('an instance that is killed under load loses only its own calls, and no call runs twice', async () => {
  const [first = 0, victim = 0, third = 0] = await pidsOnceReady(3)
  const ends: { status: number; reason: unknown }[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < 300) ends.push(await call('slow', `load-${next++}`))
  }
  const lanes = Array.from({ length: 12 }, lane)
  await eventually(() => ends.length > 60)
  process.kill(victim, 'SIGKILL')
  await Promise.all(lanes)

  const texts = (await ran('load-')).map(({ text }) => text)
  expect(new Set(texts).size).toBe(texts.length)
  const failed = ends.filter(({ status }) => status !== 200)
  expect(ends).toHaveLength(next)
  expect(failed.length).toBeLessThanOrEqual(12)
  for (const end of failed) expect(end).toEqual({ status: 502, reason: 'unknown-outcome' })
  expect(await pidsOnceReady(3)).toEqual([first, expect.any(Number), third])
  expect(await isAlive(victim)).toBe(false)
})

test('an instance is added and removed with the configuration, and the others keep running', async () => {
  const before = await pidsOnceReady(3)
  const { servers } = JSON.parse(await readFile(stack.mcpJson, 'utf8')) as {
    servers: Record<string, object>
  }
  const write = (count: number): Promise<void> => {
    const many = { ...servers['many'], instances: count }
    return writeFile(stack.mcpJson, JSON.stringify({ servers: { ...servers, many } }))
  }
  await write(4)
  expect((await pidsOnceReady(4)).slice(0, 3)).toEqual(before)
  await write(2)
  expect(await pidsOnceReady(2)).toEqual(before.slice(0, 2))
  await eventually(async () => !(await isAlive(before[2] ?? 0)))
})
