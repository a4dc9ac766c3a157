import { sample } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import type { WorkerConfig } from './config.ts'
import { workerEvents } from './events.ts'
import { Roster } from './generation/roster.ts'
import { runSample } from './handlers/sample.ts'
import { serveGenerations } from './handlers/serve-generations.ts'
import { LiveModels } from './providers/live-models.ts'
import type { Environment } from './settings/read-key.ts'

/** How often providers are asked for their models, and how long what they said counts. */
const LIST_EVERY_MS = 600_000
const LIST_TTL_MS = 1_800_000

/** A worker: takes generations from the queue and lets the configured model answer. */
export async function createWorker(
  { bus, logger, metrics }: ServiceDeps,
  config: WorkerConfig,
  env: Environment,
): Promise<Service> {
  const onFailure = (err: unknown): void =>
    logger.error({ component: 'models', action: 'reload', err }, 'who may answer stays as it was')
  const models = await LiveModels.read({
    config,
    env,
    onChange() {
      logger.info({ component: 'models', action: 'reload' }, 'who may answer was read again')
      publish().catch(onFailure)
      void list()
    },
    onFailure,
  })
  const publish = async (): Promise<void> => {
    const { provider, model, contextWindow, notice } = models.get()
    await bus.catalog.put({
      kind: 'model',
      provider,
      model,
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(notice === undefined ? {} : { notice }),
    })
  }
  const list = async (): Promise<void> => {
    try {
      for (const entry of await models.list()) {
        await bus.catalog.put(entry, { ttlMs: LIST_TTL_MS })
      }
    } catch (err) {
      logger.warn({ component: 'models', action: 'list', err }, 'the list of models is not told')
    }
  }
  const generations = new Set<Promise<unknown>>()
  // Apart: else a worker that is busy with conversations would never summarise one.
  const samples = new Set<Promise<unknown>>()
  const stop = new AbortController()
  const events = workerEvents(metrics)
  const deps = {
    bus,
    modelOf: models.get.bind(models),
    logger,
    events,
    roster: new Roster(bus),
    stopped: stop.signal,
  }
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
  await publish()
  // Nothing waits for it: providers take their time.
  void list()
  const listing = setInterval(() => void list(), LIST_EVERY_MS).unref()
  return {
    async drain() {
      leaveQueues()
      await ended()
    },
    async [Symbol.asyncDispose]() {
      leaveQueues()
      clearInterval(listing)
      models[Symbol.dispose]()
      stop.abort()
      await ended()
    },
  }
}
