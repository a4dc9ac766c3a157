import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream'
import { JetStreamApiError } from '@nats-io/jetstream'

/** The subject of a key in a key-value bucket. */
export function keySubject(bucket: string, key: string): string {
  return `$KV.${bucket}.${key}`
}

/** A time to live as the broker wants it: it counts in whole seconds. */
export function wholeSeconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)}s`
}

/** The newest of a key, a mark of its end too. Asked of the leader: replicas may lag. */
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

/** Whether it marks that the key was deleted, or that its time has passed. */
export function isEndMark({ header }: StoredMsg): boolean {
  return header.has('KV-Operation') || header.has('Nats-Marker-Reason')
}
