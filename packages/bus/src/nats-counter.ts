import { createHash } from 'node:crypto'
import type { JetStreamClient } from '@nats-io/jetstream'
import { JetStreamApiError, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { headers, nanos } from '@nats-io/transport-node'
import { z } from 'zod'
import type { Broker } from './broker.ts'
import type { Counter } from './bus.ts'
import { isMissing, toBusError } from './nats-error.ts'

/** Windows up to this length are kept for minutes, others for days. */
const SHORT_MS = 60_000
const DAY_MS = 86_400_000
const PUBLISH_LIMIT_MS = 1_000
/** JetStream's code for a stream that exists with other settings. */
const OTHER_STREAM = 10058

/** In files, since a stream in memory is gone after a restart of the broker, and services may not create it again. */
const STREAMS = [
  { name: 'RATES', subject: 'rate.>', maxAgeMs: 2 * SHORT_MS },
  { name: 'QUOTAS', subject: 'quota.>', maxAgeMs: 2 * DAY_MS },
]

/** The subjects of all counters. */
export const COUNTER_SUBJECTS = STREAMS.map(({ subject }) => subject)

/** The reply to a message of a counter. The client's types lack the sum. */
const Sum = z.object({ val: z.string().transform(Number) })

/** Counts in streams of message counters, which add up at the broker. */
export class NatsCounter implements Counter {
  readonly #jetstream: JetStreamClient

  private constructor(jetstream: JetStreamClient) {
    this.#jetstream = jetstream
  }

  /** Creates missing streams, if this process may. Throws `unavailable`. */
  static async open(
    { jetstream, manager }: Broker,
    { replicas, isOwner }: { readonly replicas: number; readonly isOwner: boolean },
  ): Promise<NatsCounter> {
    if (!isOwner) return new NatsCounter(jetstream)
    const create = async ({ name, subject, maxAgeMs }: (typeof STREAMS)[number]) => {
      const config = {
        name,
        subjects: [subject],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        max_age: nanos(maxAgeMs),
        max_msgs_per_subject: 1,
        allow_msg_counter: true,
        num_replicas: replicas,
      }
      try {
        await manager.streams.add(config).catch(async (error: unknown) => {
          const isThere = error instanceof JetStreamApiError && error.code === OTHER_STREAM
          if (!isThere) throw error
          try {
            const { config: found } = await manager.streams.info(name)
            if (found.storage === StorageType.File) return
            // Of an earlier version, in memory. What it counted lasts for a minute anyway.
            await manager.streams.delete(name)
          } catch (fault) {
            // Another process that starts at the same time has deleted it.
            if (!isMissing(fault)) throw fault
          }
          await manager.streams.add(config)
        })
      } catch (error) {
        throw toBusError(error, 'broker')
      }
    }
    await Promise.all(STREAMS.map(create))
    return new NatsCounter(jetstream)
  }

  async add(
    key: string,
    amount: number,
    { window, windowMs }: { readonly window: number; readonly windowMs: number },
  ): Promise<number> {
    const kind = windowMs <= SHORT_MS ? 'rate' : 'quota'
    // Keys are ids of principals and addresses, whose characters subjects cannot have.
    const token = createHash('sha256').update(key).digest('base64url')
    const increment = headers()
    increment.set('Nats-Incr', amount < 0 ? String(amount) : `+${amount}`)
    try {
      const ack = await this.#jetstream.publish(`${kind}.${token}.${windowMs}.${window}`, '', {
        headers: increment,
        timeout: PUBLISH_LIMIT_MS,
      })
      return Sum.parse(ack).val
    } catch (error) {
      throw toBusError(error, 'counter')
    }
  }
}
