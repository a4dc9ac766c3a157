import type { KV, KvWatchEntry } from '@nats-io/kv'
import { KvWatchInclude } from '@nats-io/kv'

export interface BucketWatch {
  /** For the log. */
  readonly what: string
  readonly put: (entry: KvWatchEntry) => void
  /** It was deleted, or its time has passed. */
  readonly end: (key: string) => void
  /** Leaves out the keys that are present when it begins. */
  readonly isOnlyNew?: boolean
  readonly warn: (error: unknown, action: string) => void
}

/** Tells of every key and its changes until the connection is closed; resolves once the present are in. */
export async function watchBucket(
  bucket: KV,
  { what, put, end, warn, isOnlyNew = false }: BucketWatch,
): Promise<void> {
  const present = Promise.withResolvers<void>()
  const updates = await bucket.watch(isOnlyNew ? { include: KvWatchInclude.UpdatesOnly } : {})
  if (isOnlyNew || (await bucket.status()).values === 0) present.resolve()
  void (async () => {
    for await (const update of updates) {
      try {
        if (update.operation === 'PUT') put(update)
        else end(update.key)
      } catch (error) {
        // An entry of a newer version is left out rather than stopping the watch.
        warn(error, `read ${what}`)
      }
      if (update.delta === 0) present.resolve()
    }
  })().catch((error: unknown) => warn(error, `watch ${what}`))
  await present.promise
}
