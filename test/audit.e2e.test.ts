// The audit log of a whole host: what is recorded, and what the command finds in it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AuditEntry } from '@mcp-host/audit'
import type { AuditMessage } from '@mcp-host/bus'
import type { Broker, Stack } from '@mcp-host/testkit'
import {
  ChatSocket,
  runProgram,
  script,
  startBroker,
  startStack,
  testFolder,
} from '@mcp-host/testkit'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'

const DAY_MS = 86_400_000
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }

const cleanup = new AsyncDisposableStack()
/** The folder of AUDIT_CHECKPOINTS. */
let folder: string
let stack: Stack
let messages: AuditMessage[]
let entries: AuditEntry[]
beforeAll(async () => {
  folder = cleanup.use(await testFolder()).path
  stack = cleanup.use(
    await startStack({
      tools: [{ name: 'echo', inputSchema }],
      // With `async`, short calls have one entry.
      env: { AUDIT: 'required', AUDIT_REDACT: 'password', AUDIT_CHECKPOINTS: folder },
    }),
  )
  using chat = await ChatSocket.open(stack)
  const args = { text: 'from a chat', password: 'secret' }
  chat.say(script({ calls: [{ name: 'test.echo', arguments: args }] }, { text: 'done' }))
  await chat.turnsDone()
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`)))
  const { tools } = await client.listTools()
  await client.callTool({ name: tools[0]?.name ?? '', arguments: { text: 'from a client' } })
  await client.close()
  // It signs off its entries at the end.
  await stack.stop('mcp-supervisor')
  const bus = await stack.broker.connect()
  messages = await Array.fromAsync(bus.audit.read())
  entries = messages.flatMap((each) =>
    each.entries.map((text) => AuditEntry.parse(JSON.parse(text))),
  )
})
afterAll(() => cleanup.disposeAsync())

async function audit(
  { url, env }: Broker,
  ...args: string[]
): Promise<{ code: unknown; output: string }> {
  await using program = await runProgram(['audit', ...args, '--nats', url], env)
  const { code } = await program.ended()
  return { code, output: program.output() }
}

test.each([
  ['a chat', { text: 'from a chat', password: '[redacted]' }],
  ['an MCP client', { text: 'from a client' }],
])('a call of %s has an entry of its start and one of its end', (_, args) => {
  const start = entries.find(
    (entry) => JSON.stringify(entry.arguments) === JSON.stringify(sorted(args)),
  )
  const about = { principal: 'local', server: 'test', tool: 'echo' }
  expect(start).toMatchObject({ action: 'tool-started', ...about })
  expect(entries.filter(({ call }) => call === start?.call)).toMatchObject([
    { action: 'tool-started' },
    { action: 'tool-finished', ...about, outcome: 'ok', traceId: start?.traceId },
  ])
})

const sorted = (args: object): object =>
  Object.fromEntries(Object.entries(args).toSorted(([one], [other]) => (one < other ? -1 : 1)))

test('an untouched log is verified', async () => {
  expect(await audit(stack.broker, 'verify')).toEqual({
    code: 0,
    output: expect.stringMatching(/^5 entries, 1 writer, 0 faults$/m),
  })
})

test('the log is compared with the checkpoints that were kept outside of it', async () => {
  const verify = () => audit(stack.broker, 'verify', '--checkpoints', folder)
  expect(await verify()).toEqual({
    code: 0,
    output: expect.stringMatching(/^1 checkpoint compared\n5 entries, 1 writer, 0 faults$/m),
  })
  const file = join(folder, 'mcp-supervisor.jsonl')
  const kept = await readFile(file, 'utf8')
  await writeFile(file, kept.replace(/"hash":"./, '"hash":"-'))
  const { code, output } = await verify()
  expect([code, output]).toEqual([1, expect.stringMatching(/^rewritten +\S+ 4: the entry is not/m)])
})

test('a folder without checkpoints is not passed over', async () => {
  await using empty = await testFolder()
  for (const path of [empty.path, join(empty.path, 'none')]) {
    const { code, output } = await audit(stack.broker, 'verify', '--checkpoints', path)
    expect([code, output]).toEqual([1, expect.stringContaining('AUDIT_CHECKPOINTS or --checkp')])
  }
})

test.each<[string, (copied: string[]) => void]>([
  ['changed 2', (copied) => copied.splice(1, 1, copied[1]?.replace('"local"', '"other"') ?? '')],
  ['removed 3', (copied) => copied.splice(2, 1)],
])('a copy of the log in which an entry was tampered with is found out: %s', async (fault, act) => {
  await using other = await startBroker()
  const bus = await other.connect()
  await bus.audit.open({ maxAgeMs: DAY_MS })
  const copied = messages.flatMap((message) => message.entries)
  const writer = messages[0]?.writer ?? ''
  act(copied)
  for (const entry of copied) await bus.audit.append(writer, [entry])
  const isNamed = new RegExp(`^${fault.replace(' ', ` +${writer} `)} `, 'm')
  const { code, output } = await audit(other, 'verify')
  expect(output).toMatch(isNamed)
  expect(code).toBe(1)
})

test('entries are found by principal, tool and action, with arguments where they are asked for', async () => {
  const { broker } = stack
  const search = ['search', '--principal', 'local', '--tool', 'ec*', '--action', 'tool-started']
  const { output } = await audit(broker, ...search, '--since', '1h')
  expect(output.trim().split('\n')).toHaveLength(2)
  expect(output).toMatch(/ local {2}ws {2}tool-started {2}test\.echo {2}call=/)
  expect(output).not.toContain('from a chat')
  const { output: bodies } = await audit(broker, ...search, '--arguments')
  expect(bodies).toContain('"text":"from a chat"')
  expect((await audit(broker, 'search', '--server', 'none')).output).toBe('')
})

test('entries are exported as lines of JSON or CSV', async () => {
  const { output } = await audit(stack.broker, 'export')
  const lines = output.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).action)).toEqual(entries.map(({ action }) => action))
  expect(output).not.toContain('from a chat')
  const { output: table } = await audit(stack.broker, 'export', '--format', 'csv')
  expect(table.trim().split('\n')).toHaveLength(1 + lines.length)
})

test('wrong use is explained, and so is a log without entries', async () => {
  const { broker } = stack
  expect(await audit(broker, 'verify', '--tool', 'a')).toMatchObject({
    code: 2,
    output: expect.stringContaining('--tool: verify checks every entry'),
  })
  expect(await audit(broker, 'search', '--since', 'yesterday')).toMatchObject({ code: 2 })
  await using other = await startBroker()
  expect(await audit(other, 'verify')).toEqual({
    code: 1,
    output:
      'the audit log has no entries. It is kept by npm start, where clients authenticate, and with AUDIT=async or AUDIT=required\n',
  })
})

test('the metrics of a supervisor have the audit log', async () => {
  await stack.restart('mcp-supervisor')
  const response = await fetch(new URL('/metrics', stack.urlOf('mcp-supervisor')))
  const metrics = await response.text()
  for (const name of ['entries_total', 'dropped_total', 'lag_seconds']) {
    expect(metrics).toMatch(new RegExp(`^mcp_host_audit_${name}\\{.*\\} 0$`, 'm'))
  }
})
