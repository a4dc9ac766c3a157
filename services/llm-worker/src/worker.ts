import { generate, sample } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import type { WorkerConfig } from './config.ts'
import { workerEvents } from './events.ts'
import { startGeneration } from './handlers/generate.ts'
import { runSample } from './handlers/sample.ts'
import { createModel } from './providers/index.ts'

/** A worker: takes generations from the queue and lets the configured model answer. */
export async function createWorker(
  { bus, logger, metrics }: ServiceDeps,
  config: WorkerConfig,
): Promise<Service> {
  const model = createModel(config)
  const running = new Set<Promise<unknown>>()
  const deps = { bus, model, logger, events: workerEvents(metrics), running }
  const queues = [
    bus.serve(generate, {}, (served) => startGeneration(deps, served)),
    bus.serve(sample, {}, (served) => runSample(deps, served)),
  ]
  const leaveQueues = (): void => {
    for (const queue of queues) queue[Symbol.dispose]()
  }
  await bus.catalog.put({
    kind: 'model',
    provider: model.provider,
    model: model.model,
    ...(model.notice === undefined ? {} : { notice: model.notice }),
  })
  return {
    async drain() {
      leaveQueues()
      await Promise.all(running)
    },
    async [Symbol.asyncDispose]() {
      leaveQueues()
    },
  }
}
