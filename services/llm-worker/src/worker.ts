import { sample } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import { ConfigError } from '@mcp-host/service'
import { Budgets } from './budget/budgets.ts'
import type { WorkerConfig } from './config.ts'
import { workerEvents } from './events.ts'
import { HeartbeatSender } from './generation/heartbeat-sender.ts'
import { runSample } from './handlers/sample.ts'
import { serveGenerations } from './handlers/serve-generations.ts'
import { LiveModels } from './models/live-models.ts'
import { hostOfContainer } from './models/locate.ts'
import type { Environment } from './settings/read-key.ts'

/** The period in which the worker lists the models of providers, and the lifetime of these lists. */
const LIST_EVERY_MS = 600_000
/** The period in which the worker looks for servers that have started since. */
const LOOK_EVERY_MS = 10_000
const PUBLISH_AGAIN_MS = 2_000
const LIST_TTL_MS = 1_800_000

/** Creates a worker, which takes generations from the queue and runs them with the configured models. */
export async function createWorker(
  { bus, logger, metrics }: ServiceDeps,
  config: WorkerConfig,
  env: Environment,
): Promise<Service> {
  const onFailure = (err: unknown): void =>
    logger.error(
      { component: 'models', action: 'reload', err },
      'the settings of models cannot be read; the previous ones stay in effect',
    )
  /** The faults of the latest settings. */
  let faults: string | undefined
  const models = await LiveModels.read({
    config,
    budgets: new Budgets(bus),
    otherHost: hostOfContainer(),
    env,
    onChange() {
      logger.info({ component: 'models', action: 'reload' }, 'the models have changed')
      faults = undefined
      publish().catch(onFailure)
      list()
    },
    onFailure(err) {
      onFailure(err)
      if (!(err instanceof ConfigError)) return
      faults = err.problems.join('\n')
      publish().catch(onFailure)
    },
  })
  const publish = async (): Promise<void> => {
    const { provider, model, contextWindow, notice } = models.get()
    await bus.catalog.put({
      kind: 'model',
      provider,
      model,
      providers: [...models.present],
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(notice === undefined ? {} : { notice }),
      ...(faults === undefined ? {} : { faults }),
    })
  }
  /** A broker that stores nothing, as on a full disk, does not keep a worker from starting. */
  const publishLater = (err: unknown): void => {
    const fields = { component: 'models', action: 'announce', err }
    logger.warn(fields, 'the default model could not be announced; trying again')
    setTimeout(() => {
      if (!stop.signal.aborted) publish().catch(publishLater)
    }, PUBLISH_AGAIN_MS).unref()
  }
  const listOnce = async (): Promise<void> => {
    for (const entry of await models.list()) {
      if (stop.signal.aborted) return
      await bus.catalog.put(entry, { ttlMs: LIST_TTL_MS }).catch((err: unknown) => {
        const fields = { component: 'models', action: 'list', provider: entry.provider, err }
        logger.warn(fields, 'the models of a provider could not be announced')
      })
    }
    await publish().catch(publishLater)
  }
  /** The queue of listings, one after the other, so that the last one takes effect. */
  let listing = Promise.resolve()
  const list = (): void => {
    listing = listing.then(listOnce).catch(onFailure)
  }
  const generations = new Set<Promise<unknown>>()
  // Samples are separate, so that a worker that is busy with generations can still summarise one.
  const samples = new Set<Promise<unknown>>()
  const stop = new AbortController()
  const events = workerEvents(metrics)
  const deps = {
    bus,
    modelOf: models.get.bind(models),
    logger,
    events,
    roster: new HeartbeatSender(bus),
    stopped: stop.signal,
  }
  const sampling = { ...deps, modelOf: models.oneOf.bind(models), running: samples }
  const queues = [
    serveGenerations({ ...deps, running: generations }, config.maxGenerations),
    bus.serve(sample, {}, (served) => runSample(sampling, served)),
  ]
  const leaveQueues = (): void => {
    for (const queue of queues) queue[Symbol.dispose]()
  }
  const ended = (): Promise<unknown> => Promise.all([...generations, ...samples])
  await publish().catch(publishLater)
  // The start does not wait for the lists, since providers may be slow.
  list()
  const timers = [
    setInterval(list, LIST_EVERY_MS).unref(),
    setInterval(() => models.look(), LOOK_EVERY_MS).unref(),
  ]
  return {
    async drain() {
      leaveQueues()
      await ended()
    },
    async [Symbol.asyncDispose]() {
      leaveQueues()
      for (const timer of timers) clearInterval(timer)
      models[Symbol.dispose]()
      stop.abort()
      await ended()
    },
  }
}
