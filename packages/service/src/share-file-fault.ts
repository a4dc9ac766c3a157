import { basename } from 'node:path'
import type { Bus } from '@mcp-host/bus'
import type { FileFaultEntry } from '@mcp-host/contracts'
import type { Logger } from './logger.ts'

/** The time after which the entry of a process that has died is gone. */
const TTL_MS = 20_000
const RENEW_MS = 5_000

export interface FileFaultDeps {
  readonly bus: { readonly id: string; readonly catalog: Pick<Bus['catalog'], 'put' | 'remove'> }
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>
}

export interface SharedFileFault extends AsyncDisposable {
  /** The faults, one a line; `undefined` when there are none. */
  set(faults: string | undefined): void
}

/** Tells the operators, by the catalog, that a changed file cannot be used, as long as this is so. */
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
    write(() => (entry === undefined ? undefined : bus.catalog.put(entry, { ttlMs: TTL_MS })))
  const timer = setInterval(put, RENEW_MS).unref()
  const set = (faults: string | undefined): void => {
    const former = entry
    entry =
      faults === undefined
        ? undefined
        : { kind: 'file-fault', setting, process: bus.id, file: basename(path), faults }
    if (entry !== undefined) put()
    // An entry that cannot be removed expires.
    else if (former !== undefined) write(() => bus.catalog.remove(former))
  }
  return {
    set,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      set(undefined)
      await writing
    },
  }
}
