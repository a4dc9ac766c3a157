import { LOCAL } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { GatewayAudit } from '../gateway-audit.ts'
import { FakeBus } from '../http/__fixtures__/fake-bus.ts'
import { ApprovalQueue } from './approval-queue.ts'

const caller = { ...LOCAL, id: 'user:ann' }
const call = { server: 'files', tool: 'remove', arguments: { path: '/a' } }
let bus: FakeBus
let queue: ApprovalQueue

beforeEach(() => {
  bus = new FakeBus()
  const audit = new GatewayAudit(undefined)
  queue = new ApprovalQueue({ bus: bus.asBus(), audit }, { timeoutMs: 60_000 })
})

test('a call that was refused a moment ago waits again, and can be allowed', async () => {
  const { id: first } = await queue.ask(caller, call)
  bus.holdViews()
  await queue.answer(caller, first, 'refused')
  const { id: second } = await queue.ask(caller, call)
  expect(second).not.toBe(first)
  await queue.answer(caller, second, 'allowed')
  expect(await queue.use(caller, second, call)).toBeUndefined()
})

test('an approval that was given a moment ago is used, once', async () => {
  const { id } = await queue.ask(caller, call)
  expect(await queue.take(caller, call)).toBe(false)
  bus.holdViews()
  await queue.answer(caller, id, 'allowed')
  expect(await queue.take(caller, call)).toBe(true)
  expect(await queue.take(caller, call)).toBe(false)
})

test('a call that was refused a moment ago does not run', async () => {
  const { id } = await queue.ask(caller, call)
  bus.holdViews()
  await queue.answer(caller, id, 'refused')
  expect(await queue.take(caller, call)).toBe(false)
})

test('a user sees every key of the arguments that would run', async () => {
  const text =
    '{"__proto__":{"all":true},"list":[{"__proto__":1}],"name":"\\ud800","size":9007199254740993}'
  const args: unknown = JSON.parse(text)
  const { id } = await queue.ask(caller, { ...call, arguments: args })
  const shown = await queue.get(caller, id)
  expect(JSON.stringify(shown.arguments)).toBe(JSON.stringify(args))
})

test('of many calls that come at once, as many as the limit has wait', async () => {
  await queue.list(caller)
  bus.holdViews()
  const asked = Array.from({ length: 300 }, (_, number) =>
    queue.ask(caller, { ...call, arguments: { number } }),
  )
  const results = await Promise.allSettled(asked)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
  await expect(queue.ask({ ...caller, id: 'user:bob' }, call)).resolves.toBeDefined()
})
