import type { Bus, InputJobs, InputVerdict } from '@mcp-host/bus'
import {
  newEnvelope,
  newSessionId,
  orchestratorControl,
  orchestratorJobs,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TakeOver } from './take-over.ts'

let stack: AsyncDisposableStack
let broker: Broker
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  broker = stack.use(await startBroker())
})
afterEach(() => stack.disposeAsync())

// TakeOver logs with this method only.
const logger = { warn: () => undefined } as unknown as Logger

interface Orchestrator {
  readonly bus: Bus
  readonly jobs: InputJobs
  /** Sequences of the messages that were delivered to it. */
  readonly delivered: number[]
  /** Numbers of jobs that it handed back. */
  readonly takenOver: number[]
}

/** Starts an orchestrator that never ends a turn. */
async function start(): Promise<Orchestrator> {
  const bus = await broker.connect('orchestrator')
  const delivered: number[] = []
  const takenOver: number[] = []
  const jobs = await bus.sessions.consumeInputs(({ seq }) => {
    delivered.push(seq)
    return new Promise<InputVerdict>(() => undefined)
  })
  stack.use(bus.serve(orchestratorControl, { orchestrator: bus.id }, () => ({ running: true })))
  const events = {
    jobsTakenOver: (count: number) => void takenOver.push(count),
  }
  stack.use(new TakeOver({ bus, logger, inputs: jobs, events }))
  return { bus, jobs, delivered, takenOver }
}

test('a message of a dead orchestrator is handed back by another one, and redelivered', async () => {
  const dying = await start()
  const options = { envelope: newEnvelope('local'), messageId: 'a' }
  const client = await broker.connect('gateway')
  const fact = { kind: 'input', fact: { id: 'a', text: 'hello' } } as const
  const { seq } = await client.sessions.append(newSessionId(), fact, options)
  await eventually(() => dying.delivered.length === 1)
  const other = await start()
  let announced: readonly string[] = []
  using _listening = client.listen(orchestratorJobs, {}, ({ orchestrator, jobs }) => {
    if (orchestrator === dying.bus.id) announced = jobs
  })
  await eventually(() => announced.length === 1)
  expect(announced).toEqual(dying.jobs.held())
  await dying.bus[Symbol.asyncDispose]()
  await eventually(() => other.delivered.length === 1, { limitMs: 10_000 })
  expect(other.delivered).toEqual([seq])
  expect(other.takenOver).toEqual([1])
})
