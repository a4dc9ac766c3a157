import { DiscardPolicy, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { parseNatsUrl } from '@mcp-host/bus'
import type { Broker } from './broker.ts'

/** Lets a stream of a broker without accounts refuse every message, until disposed. */
export async function fullStream({ url }: Broker, name: string): Promise<AsyncDisposable> {
  const connection = await connect(parseNatsUrl(url))
  const { streams } = await jetstreamManager(connection)
  const { config } = await streams.info(name)
  await streams.update(name, { ...config, max_bytes: 1, discard: DiscardPolicy.New })
  return {
    async [Symbol.asyncDispose]() {
      await streams.update(name, config)
      await connection.close()
    },
  }
}
