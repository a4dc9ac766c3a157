import type { Bus } from '@mcp-host/bus'
import type { McpClientRecord, ServerEntry, ServerName } from '@mcp-host/contracts'
import type { ServerSnapshot } from '@mcp-host/upstream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bindSubjects } from '../subjects.ts'
import { ClientLists } from './client-lists.ts'

let record: McpClientRecord
let writes: number
/** Whether the broker refuses writes. */
let isBrokerDown: boolean
let warnings: number
/** Handler of requests for the lists, while one is registered. */
let answer: (() => Promise<ServerEntry>) | undefined
let lists: ClientLists

beforeEach(() => {
  vi.useFakeTimers()
  record = { logLevel: 'error' }
  writes = 0
  warnings = 0
  isBrokerDown = false
  answer = undefined
  lists = make()
})
afterEach(() => void vi.useRealTimers())

function make(): ClientLists {
  const bus = {
    id: 'us',
    serve(_: unknown, params: object, handler: () => Promise<ServerEntry>) {
      expect(params).toEqual({ server: 'own', client: 'ann' })
      answer = handler
      return { [Symbol.dispose]: () => void (answer = undefined) }
    },
    mcpClients: {
      async change(client: string, change: (record: McpClientRecord) => McpClientRecord) {
        expect(client).toBe('ann')
        writes++
        if (isBrokerDown) throw new Error('the broker is away')
        record = change(record)
      },
    },
    // ClientLists uses only these members.
  } as unknown as Bus
  // ClientLists passes entries on and does not read their other fields.
  const toEntry = ({ tools }: ServerSnapshot) => ({ tools }) as unknown as ServerEntry
  const options = { server: 'own' as ServerName, client: 'ann', toEntry }
  return new ClientLists({ bus, subjects: bindSubjects(bus), warn: () => void warnings++ }, options)
}

const snapshot = (state: ServerSnapshot['state'], ...tools: string[]): ServerSnapshot => ({
  name: 'own',
  type: 'stdio',
  state,
  since: 0,
  restarts: 0,
  tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })),
  prompts: [],
  resources: [],
  resourceTemplates: [],
})

async function take(...snapshots: readonly ServerSnapshot[]): Promise<void> {
  for (const each of snapshots) lists.take(each)
  await vi.advanceTimersByTimeAsync(0)
}

const changed = (change: number): object => ({
  supervisor: 'us',
  process: expect.any(String),
  change,
})
const names = async (): Promise<string[] | undefined> =>
  (await answer?.())?.tools.map(({ name }) => name)

test("a client's own lists are not announced while its process lists the same as at its start", async () => {
  await take(snapshot('starting'), snapshot('ready', 'a'), snapshot('ready', 'a'))
  await lists[Symbol.asyncDispose]()
  expect(writes).toBe(0)
  expect(answer).toBeUndefined()
})

test("each change of a client's own lists is announced, also one back to the first lists", async () => {
  await take(snapshot('ready', 'a'), snapshot('ready', 'a', 'b'))
  expect(record).toEqual({ logLevel: 'error', ownLists: { own: changed(1) } })
  expect(await names()).toEqual(['a', 'b'])
  await take(snapshot('ready', 'a'))
  expect(record.ownLists).toEqual({ own: changed(2) })
  expect(await names()).toEqual(['a'])
})

test.each(['unavailable', 'starting', 'stopping'] as const)(
  'a process that becomes %s withdraws its own lists, and the next process starts without any',
  async (state) => {
    await take(snapshot('ready', 'a'), snapshot('ready', 'b'), snapshot(state))
    expect(record).toEqual({ logLevel: 'error' })
    expect(answer).toBeUndefined()
    await take(snapshot('ready', 'a'))
    expect(record.ownLists).toBeUndefined()
    await take(snapshot('ready', 'c'))
    expect(record.ownLists).toEqual({ own: changed(2) })
  },
)

test('the end of a process withdraws its own lists and no others', async () => {
  const other = { supervisor: 'peer', process: 'p', change: 1 }
  record = { ownLists: { other } }
  await take(snapshot('ready', 'a'), snapshot('ready', 'b'))
  expect(record.ownLists).toEqual({ other, own: changed(1) })
  await lists[Symbol.asyncDispose]()
  expect(record).toEqual({ ownLists: { other } })
})

test('the end of a process leaves the lists that a later process has announced', async () => {
  await take(snapshot('ready', 'a'), snapshot('ready', 'b'))
  const own = { supervisor: 'peer', process: 'p', change: 1 }
  record = { ownLists: { own } }
  await lists[Symbol.asyncDispose]()
  expect(record).toEqual({ ownLists: { own } })
})

test('the lists of a dead process are replaced', async () => {
  record = { ownLists: { own: { supervisor: 'dead', process: 'p', change: 7 } } }
  await take(snapshot('ready', 'a'), snapshot('ready', 'b'))
  expect(record.ownLists).toEqual({ own: changed(1) })
})

test('a write that the broker refused is retried with the latest state', async () => {
  await take(snapshot('ready', 'a'), snapshot('ready', 'b'))
  isBrokerDown = true
  await take(snapshot('ready', 'c'))
  await lists[Symbol.asyncDispose]()
  expect(record.ownLists).toEqual({ own: changed(1) })
  await vi.advanceTimersByTimeAsync(600_000)
  expect(warnings).toBeGreaterThan(1)
  isBrokerDown = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(record).toEqual({ logLevel: 'error' })
  const before = writes
  await vi.advanceTimersByTimeAsync(10_000)
  expect(writes).toBe(before)
})

test('changes during a write are coalesced into one more write', async () => {
  await take(snapshot('ready', 'a'))
  await take(snapshot('ready', 'b'), snapshot('ready', 'c'), snapshot('ready', 'd'))
  expect(record.ownLists).toEqual({ own: changed(3) })
  expect(writes).toBe(2)
})

test('a list_changed notification of the server counts as a change even if the lists are equal', async () => {
  const first = snapshot('ready', 'a')
  await take(first, { ...first, announcedAt: { tools: 5 } })
  expect(record.ownLists).toEqual({ own: changed(1) })
})
