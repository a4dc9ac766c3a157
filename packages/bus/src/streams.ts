import type { JetStreamManager } from '@nats-io/jetstream'
import { AckPolicy, DeliverPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { ALL_LOGS, ALL_LOGS_LIVE, subjectPattern, userMessage } from '@mcp-host/contracts'

/** The stream that holds all session logs. */
export const SESSIONS_STREAM = 'SESS'

/** The consumer that hands user messages to orchestrators. */
export const INPUTS_CONSUMER = 'orch'

/** How long an orchestrator may be silent about a message before another gets it. */
export const ACK_WAIT_MS = 5_000

/** Creates what is missing; every service does so at its start. */
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
