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

const logger = { warn: () => undefined } as unknown as Logger

interface Orchestrator {
  readonly bus: Bus
  readonly jobs: InputJobs
  /** The messages it was given, by their sequences. */
  readonly given: number[]
  /** When it handed jobs of another back, and how many. */
  readonly takenOver: { at: number; count: number }[]
}

/** One that never ends a turn. */
async function start(): Promise<Orchestrator> {
  const bus = await broker.connect('orchestrator')
  const given: number[] = []
  const takenOver: Orchestrator['takenOver'] = []
  const jobs = await bus.sessions.consumeInputs(({ seq }) => {
    given.push(seq)
    return new Promise<InputVerdict>(() => undefined)
  })
  stack.use(bus.serve(orchestratorControl, { orchestrator: bus.id }, () => ({ running: true })))
  const events = {
    jobsTakenOver: (count: number) => void takenOver.push({ at: performance.now(), count }),
  }
  stack.use(new TakeOver({ bus, logger, inputs: jobs, events }))
  return { bus, jobs, given, takenOver }
}

test('a message of an orchestrator that dies comes to another long before the broker would see to it', async () => {
  const dying = await start()
  const options = { envelope: newEnvelope('local'), messageId: 'a' }
  const client = await broker.connect('gateway')
  const fact = { kind: 'input', fact: { id: 'a', text: 'hello' } } as const
  const { seq } = await client.sessions.append(newSessionId(), fact, options)
  await eventually(() => dying.given.length === 1)
  const other = await start()
  let heard: readonly string[] = []
  using _listening = client.listen(orchestratorJobs, {}, ({ orchestrator, jobs }) => {
    if (orchestrator === dying.bus.id) heard = jobs
  })
  await eventually(() => heard.length === 1)
  expect(heard).toEqual(dying.jobs.held())
  await dying.bus[Symbol.asyncDispose]()
  await eventually(() => other.given.length === 1, { limitMs: 10_000 })
  const givenAt = performance.now()
  expect(other.given).toEqual([seq])
  expect(other.takenOver.map(({ count }) => count)).toEqual([1])
  // Else it was the broker, which waits for five seconds.
  expect(givenAt - (other.takenOver[0]?.at ?? 0)).toBeLessThan(2_000)
})
