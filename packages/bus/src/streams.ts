import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { AckPolicy, DeliverPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import { Kvm } from '@nats-io/kv'
import { nanos } from '@nats-io/transport-node'
import { ALL_LOGS, ALL_LOGS_LIVE, subjectPattern, userMessage } from '@mcp-host/contracts'

/** The stream that holds all session logs. */
export const SESSIONS_STREAM = 'SESS'

/** The consumer that hands user messages to orchestrators. */
export const INPUTS_CONSUMER = 'orch'

/** How long an orchestrator may be silent about a message before another gets it. */
export const ACK_WAIT_MS = 5_000

/** How long who watches a bucket may be away and still learn that a value's time has passed. */
export const EXPIRY_NOTICE_MS = 3_600_000

/** Creates the log of all sessions where it is missing; every service does so at its start. */
export async function ensureStreams(manager: JetStreamManager): Promise<void> {
  await manager.streams.add({
    name: SESSIONS_STREAM,
    subjects: [ALL_LOGS],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    allow_direct: true,
    republish: { src: ALL_LOGS, dest: ALL_LOGS_LIVE },
    duplicate_window: nanos(120_000),
    deny_delete: true,
    max_consumers: 1_000,
  })
  await manager.consumers.add(SESSIONS_STREAM, {
    durable_name: INPUTS_CONSUMER,
    filter_subject: subjectPattern(userMessage.subject),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ACK_WAIT_MS),
    max_deliver: -1,
    max_ack_pending: 20_000,
  })
}

/** A bucket of last values that may expire one by one; one of an earlier version is brought up to date. */
export async function openBucket(
  client: JetStreamClient,
  manager: JetStreamManager,
  name: string,
): Promise<KV> {
  const bucket = await new Kvm(client).create(name, { history: 1, markerTTL: EXPIRY_NOTICE_MS })
  const { config } = await manager.streams.info(`KV_${name}`)
  if (config.allow_msg_ttl !== true) {
    const expiring = { allow_msg_ttl: true, subject_delete_marker_ttl: nanos(EXPIRY_NOTICE_MS) }
    await manager.streams.update(`KV_${name}`, { ...config, ...expiring })
  }
  return bucket
}
