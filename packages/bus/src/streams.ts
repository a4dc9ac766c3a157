import { isDeepStrictEqual } from 'node:util'
import type { JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream'
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { Objm } from '@nats-io/obj'
import { nanos } from '@nats-io/transport-node'
import type { BucketAccess } from '@mcp-host/contracts'
import { ALL_AUDIT, ALL_INPUTS, ALL_LOGS, ALL_LOGS_LIVE } from '@mcp-host/contracts'
import { changesSubject, EXPIRY_NOTICE_MS, keySubject } from './bucket-key.ts'

/** The stream that holds all session logs. */
export const SESSIONS_STREAM = 'SESS'

/** The object store of values that are too large for a message. */
export const BLOB_BUCKET = 'BLOB'

/** The stream of the audit log. */
export const AUDIT_STREAM = 'AUDIT'

/** The consumer that delivers user messages and control facts to orchestrators. */
export const INPUTS_CONSUMER = 'orch'

/** JetStream's codes for a stream and a consumer that exist with another configuration. */
const OTHER_STREAM = 10058
const OTHER_CONSUMER = 10148

/** The time after which an unacknowledged message is redelivered to another orchestrator. */
export const ACK_WAIT_MS = 5_000

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

/** Creates the stream of all session logs, or updates one of an earlier version. Every service does so at its start. */
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
    const { filter_subject } = consumer
    return manager.consumers.update(SESSIONS_STREAM, INPUTS_CONSUMER, { filter_subject })
  })
}

/** Creates the audit log if it is missing, and sets how long its messages are kept. They cannot be deleted earlier. */
export async function ensureAudit(
  manager: JetStreamManager,
  { replicas, maxAgeMs }: Replication & { readonly maxAgeMs: number },
): Promise<void> {
  const kept = { subjects: [ALL_AUDIT], max_age: nanos(maxAgeMs), num_replicas: replicas }
  const stream = {
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    allow_direct: true,
    deny_delete: true,
    deny_purge: true,
    ...kept,
  }
  await manager.streams.add({ name: AUDIT_STREAM, ...stream }).catch((error: unknown) => {
    if (!isRefused(error, OTHER_STREAM)) throw error
    return bringUpToDate(manager, AUDIT_STREAM, kept)
  })
}

/** Creates a bucket of last values that may expire one by one, or updates one of an earlier version. */
export async function ensureBucket(
  client: JetStreamClient,
  manager: JetStreamManager,
  name: string,
  { replicas, maxAgeMs, maxBytes }: Replication & Pick<BucketAccess, 'maxAgeMs' | 'maxBytes'>,
): Promise<void> {
  const created = new Kvm(client).create(name, {
    history: 1,
    markerTTL: EXPIRY_NOTICE_MS,
    replicas,
    ...(maxAgeMs === undefined ? {} : { ttl: maxAgeMs }),
  })
  await createdByAny(created)
  await bringUpToDate(manager, `KV_${name}`, {
    allow_msg_ttl: true,
    subject_delete_marker_ttl: nanos(EXPIRY_NOTICE_MS),
    num_replicas: replicas,
    republish: { src: keySubject(name, '>'), dest: changesSubject(name) },
    // Otherwise a full bucket refuses values.
    ...(maxBytes === undefined ? {} : { max_bytes: maxBytes, discard: DiscardPolicy.Old }),
  })
}

/** Creates the store of values of any size, or updates one of an earlier version. */
export async function ensureBlobs(
  client: JetStreamClient,
  manager: JetStreamManager,
  { replicas, maxAgeMs }: Replication & { readonly maxAgeMs: number },
): Promise<void> {
  await createdByAny(new Objm(client).create(BLOB_BUCKET, { ttl: nanos(maxAgeMs), replicas }))
  await bringUpToDate(manager, `OBJ_${BLOB_BUCKET}`, {
    allow_msg_ttl: true,
    num_replicas: replicas,
  })
}

/**
 * Resolves also when another process created and updated the stream after the NATS client looked for it: the client
 * then tries to create it with the configuration from before the update.
 */
async function createdByAny(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isRefused(error, OTHER_STREAM)) throw error
  })
}

async function bringUpToDate(
  manager: JetStreamManager,
  stream: string,
  wanted: Partial<StreamConfig>,
): Promise<void> {
  const { config } = await manager.streams.info(stream)
  const isOld = Object.entries(wanted).some(
    ([field, value]) => !isDeepStrictEqual(config[field as keyof StreamConfig], value),
  )
  if (isOld) await manager.streams.update(stream, { ...config, ...wanted })
}

function isRefused(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code
}
