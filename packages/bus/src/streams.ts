import type { JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream'
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import { Kvm } from '@nats-io/kv'
import type { ObjectStore } from '@nats-io/obj'
import { Objm } from '@nats-io/obj'
import { nanos } from '@nats-io/transport-node'
import { ALL_INPUTS, ALL_LOGS, ALL_LOGS_LIVE } from '@mcp-host/contracts'

/** The stream that holds all session logs. */
export const SESSIONS_STREAM = 'SESS'

/** The consumer that hands what users say to orchestrators. */
export const INPUTS_CONSUMER = 'orch'

/** JetStream's codes for what is there already, but made otherwise. */
const OTHER_STREAM = 10058
const OTHER_CONSUMER = 10148

/** The time after which an unacknowledged message is redelivered to another orchestrator. */
export const ACK_WAIT_MS = 5_000

/** How long a watcher may be disconnected and still learn of expired values. */
export const EXPIRY_NOTICE_MS = 3_600_000

/** The stream that a durable write goes to. */
export function streamOf(subject: string): string {
  const [kind, name = ''] = subject.split('.', 2)
  if (kind === '$KV') return `KV_${name}`
  return kind === '$O' ? `OBJ_${name}` : SESSIONS_STREAM
}

export interface Replication {
  /** The replicas of each message in a cluster. */
  readonly replicas: number
}

/**
 * Creates the log of all sessions where it is missing, and brings one of an earlier version up to date;
 * every service does so at its start.
 */
export async function ensureStreams(
  manager: JetStreamManager,
  { replicas }: Replication,
): Promise<void> {
  const stream = {
    subjects: [ALL_LOGS],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    allow_direct: true,
    republish: { src: ALL_LOGS, dest: ALL_LOGS_LIVE },
    duplicate_window: nanos(120_000),
    deny_delete: true,
    max_consumers: 1_000,
    num_replicas: replicas,
  }
  await manager.streams.add({ name: SESSIONS_STREAM, ...stream }).catch((error: unknown) => {
    if (!isRefused(error, OTHER_STREAM)) throw error
    return bringUpToDate(manager, SESSIONS_STREAM, { num_replicas: replicas })
  })
  const consumer = {
    durable_name: INPUTS_CONSUMER,
    filter_subject: ALL_INPUTS,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ACK_WAIT_MS),
    max_deliver: -1,
    max_ack_pending: 20_000,
  }
  await manager.consumers.add(SESSIONS_STREAM, consumer).catch((error: unknown) => {
    if (!isRefused(error, OTHER_CONSUMER)) throw error
    return manager.consumers.update(SESSIONS_STREAM, INPUTS_CONSUMER, {
      filter_subject: ALL_INPUTS,
    })
  })
}

/** A bucket of last values that may expire one by one; one of an earlier version is brought up to date. */
export async function openBucket(
  client: JetStreamClient,
  manager: JetStreamManager,
  name: string,
  { replicas, maxAgeMs }: Replication & { readonly maxAgeMs?: number },
): Promise<KV> {
  const bucket = await new Kvm(client).create(name, {
    history: 1,
    markerTTL: EXPIRY_NOTICE_MS,
    replicas,
    ...(maxAgeMs === undefined ? {} : { ttl: maxAgeMs }),
  })
  await bringUpToDate(manager, `KV_${name}`, {
    allow_msg_ttl: true,
    subject_delete_marker_ttl: nanos(EXPIRY_NOTICE_MS),
    num_replicas: replicas,
  })
  return bucket
}

/** A store of values of any size. */
export async function openStore(
  client: JetStreamClient,
  manager: JetStreamManager,
  name: string,
  { replicas, maxAgeMs }: Replication & { readonly maxAgeMs: number },
): Promise<ObjectStore> {
  const store = await new Objm(client).create(name, { ttl: nanos(maxAgeMs), replicas })
  await bringUpToDate(manager, `OBJ_${name}`, { num_replicas: replicas })
  return store
}

async function bringUpToDate(
  manager: JetStreamManager,
  stream: string,
  wanted: Partial<StreamConfig>,
): Promise<void> {
  const { config } = await manager.streams.info(stream)
  const isOld = Object.entries(wanted).some(
    ([field, value]) => config[field as keyof StreamConfig] !== value,
  )
  if (isOld) await manager.streams.update(stream, { ...config, ...wanted })
}

function isRefused(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code
}
