import type { JetStreamClient, JetStreamManager, StoredMsg } from '@nats-io/jetstream'
import { JetStreamApiError } from '@nats-io/jetstream'
import type { MsgHdrs } from '@nats-io/transport-node'
import { headers } from '@nats-io/transport-node'

/** The time for which a watcher may be disconnected and still see expired values. */
export const EXPIRY_NOTICE_MS = 3_600_000

/** The subject of a key in a key-value bucket. */
export function keySubject(bucket: string, key: string): string {
  return `$KV.${bucket}.${key}`
}

/** The subject on which the broker repeats each stored value of a key. */
export function changesSubject(bucket: string, key = '>'): string {
  return `kv.${bucket}.${key}`
}

/** A time to live in whole seconds, which is the broker's unit. */
export function wholeSeconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)}s`
}

/** The last message of a key, which may be an end mark. From the leader, since replicas may lag. */
export async function lastOfKey(
  manager: JetStreamManager,
  bucket: string,
  key: string,
): Promise<StoredMsg | null> {
  try {
    const query = { last_by_subj: keySubject(bucket, key) }
    return await manager.streams.getMessage(`KV_${bucket}`, query)
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return null
    throw error
  }
}

/**
 * Replaces the value of a key, if it is still at this revision, by a mark that expires: keys may contain ids of
 * processes, which change at every start.
 */
export async function removeKey(
  jetstream: JetStreamClient,
  bucket: string,
  key: string,
  { revision }: { readonly revision?: number | undefined } = {},
): Promise<void> {
  const mark = headers()
  mark.set('KV-Operation', 'PURGE')
  mark.set('Nats-Rollup', 'sub')
  await jetstream.publish(keySubject(bucket, key), new Uint8Array(), {
    headers: mark,
    ttl: wholeSeconds(EXPIRY_NOTICE_MS),
    ...(revision === undefined ? {} : { expect: { lastSubjectSequence: revision } }),
  })
}

/** Whether a message marks that its key was deleted or has expired. */
export function isEndMark({ header }: { readonly header: MsgHdrs }): boolean {
  return header.has('KV-Operation') || header.has('Nats-Marker-Reason')
}
