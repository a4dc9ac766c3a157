import { basename } from 'node:path'
import type { Bus } from '@mcp-host/bus'
import type { FileFaultEntry } from '@mcp-host/contracts'
import type { Logger } from './logger.ts'

/** The time after which the entry of a process that has died is gone. */
const TTL_MS = 20_000
const RENEW_MS = 5_000
/** The time for which the catalog says that a changed file is taken over: long enough to be seen. */
const TOLD_MS = 3_000

export interface FileFaultDeps {
  readonly bus: { readonly id: string; readonly catalog: Pick<Bus['catalog'], 'put' | 'remove'> }
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>
}

export interface SharedFileFault extends AsyncDisposable {
  /** The faults, one a line; empty when the changed file is taken over. */
  set(faults: string): void
}

/** Tells the operators, by the catalog, that a changed file is taken over, or cannot be used, as long as this is so. */
export function shareFileFault(
  { bus, logger }: FileFaultDeps,
  { setting, path }: { readonly setting: string; readonly path: string },
): SharedFileFault {
  let entry: FileFaultEntry | undefined
  /** The queue of writes, so that the last one takes effect. */
  let writing = Promise.resolve()
  const write = (change: () => Promise<void> | undefined): void => {
    writing = writing.then(change).catch((err: unknown) => {
      const fields = { component: 'config', action: 'announce', path, err }
      logger.warn(fields, 'the state of a file could not be announced; trying again')
    })
  }
  const put = (): void =>
    write(() => entry && bus.catalog.put(entry, { ttlMs: entry.faults === '' ? TOLD_MS : TTL_MS }))
  const timer = setInterval(() => {
    if (entry?.faults !== '') put()
  }, RENEW_MS).unref()
  return {
    set(faults) {
      entry = { kind: 'file-fault', setting, process: bus.id, file: basename(path), faults }
      put()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      const last = entry
      entry = undefined
      // An entry that cannot be removed expires.
      if (last !== undefined) write(() => bus.catalog.remove(last))
      await writing
    },
  }
}
