import { ServerCache } from '../cache/server-cache.ts'
import type { TtlCache } from '../cache/ttl-cache.ts'
import type { ServerConfig } from '../config/mcp-config.ts'
import type { ListName } from '../inventory/inventory.ts'
import { bindLogger } from '../logger.ts'
import { PoolClient } from '../pool/pool-client.ts'
import { PoolInstance } from '../pool/pool-instance.ts'
import { ServerPool } from '../pool/server-pool.ts'
import {
  createServerInstance,
  type ServerInstanceDeps,
  type ServerInstanceOptions,
} from './create-server-instance.ts'
import type { ManagedServer, MemberServer } from '../server/managed-server.ts'
import { Wanted } from '../server/notices.ts'

export interface ManagedServerDeps extends ServerInstanceDeps {
  /** Caches prompts and resources of all servers; undefined: no caching. */
  readonly cache: TtlCache<object> | undefined
  /** Told after every change of state or lists. */
  readonly onChange: (server: MemberServer) => void
}

type Shared = Pick<
  ServerInstanceOptions,
  'name' | 'config' | 'logger' | 'cache' | 'wanted' | 'onListed' | 'onChange'
>

/** A configured server, which is not started yet. */
export function createManagedServer(
  deps: ManagedServerDeps,
  name: string,
  config: ServerConfig,
): ManagedServer {
  const isAway = (): boolean => member.server.state !== 'ready'
  const shared: Shared = {
    name,
    config,
    logger: deps.options.logger,
    cache: new ServerCache({ cache: deps.cache, isAway }, name),
    wanted: new Wanted(),
    onListed: (list) => deps.emit({ type: 'list-changed', server: name, list }),
    onChange: () => deps.onChange(member.server),
  }
  const member = config.instances === undefined ? createOne(deps, shared) : createPool(deps, shared)
  return member
}

function createOne(deps: ServerInstanceDeps, shared: Shared): ManagedServer {
  const single = createServerInstance(deps, shared)
  return { ...single, cache: shared.cache, instances: [single.server], adapt: () => undefined }
}

function createPool(deps: ServerInstanceDeps, shared: Shared): ManagedServer {
  const { name, config, cache, logger, onListed } = shared
  const pool = new ServerPool(
    {
      create: (options, number) => {
        const single = createServerInstance(deps, {
          ...shared,
          config: options.config,
          logger: bindLogger(logger, { instance: number }),
          onListChanged: (list) => pool.relist(list, instance),
          onListed: (list: ListName) => {
            // All instances have the same lists, so one of them speaks for all.
            if (pool.speaker === instance) onListed(list)
          },
        })
        const instance = new PoolInstance(single, options)
        return instance
      },
    },
    name,
    config,
  )
  return {
    server: pool,
    client: new PoolClient({
      pool,
      logger: bindLogger(logger, { component: 'request', server: name }),
      onPicked(position) {
        const { instances } = deps.metrics.counters(name)
        instances[position] = (instances[position] ?? 0) + 1
      },
    }),
    cache,
    get instances() {
      return pool.instances.map(({ server }) => server)
    },
    adapt: (next) => {
      const adaptation = pool.adapt(next)
      // Results of another instance are dropped.
      if (adaptation !== undefined)
        for (const kind of ['prompt', 'resource'] as const) cache.forget(kind)
      return adaptation
    },
  }
}
