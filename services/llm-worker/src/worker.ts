import { sample } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import type { WorkerConfig } from './config.ts'
import { workerEvents } from './events.ts'
import { Roster } from './generation/roster.ts'
import { runSample } from './handlers/sample.ts'
import { serveGenerations } from './handlers/serve-generations.ts'
import { createModel } from './providers/index.ts'

/** A worker: takes generations from the queue and lets the configured model answer. */
export async function createWorker(
  { bus, logger, metrics }: ServiceDeps,
  config: WorkerConfig,
): Promise<Service> {
  const model = createModel(config)
  const generations = new Set<Promise<unknown>>()
  // Apart: else a worker that is busy with conversations would never summarise one.
  const samples = new Set<Promise<unknown>>()
  const stop = new AbortController()
  const events = workerEvents(metrics)
  const deps = { bus, model, logger, events, roster: new Roster(bus), stopped: stop.signal }
  const queues = [
    serveGenerations({ ...deps, running: generations }, config.maxGenerations),
    bus.serve(sample, {}, (served) => runSample({ ...deps, running: samples }, served)),
  ]
  const leaveQueues = (): void => {
    for (const queue of queues) queue[Symbol.dispose]()
  }
  const ended = async (): Promise<void> => {
    await Promise.all([...generations, ...samples])
  }
  await bus.catalog.put({
    kind: 'model',
    provider: model.provider,
    model: model.model,
    ...(model.contextWindow === undefined ? {} : { contextWindow: model.contextWindow }),
    ...(model.notice === undefined ? {} : { notice: model.notice }),
  })
  return {
    async drain() {
      leaveQueues()
      await ended()
    },
    async [Symbol.asyncDispose]() {
      leaveQueues()
      stop.abort()
      await ended()
    },
  }
}
