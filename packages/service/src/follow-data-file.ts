import type { z } from 'zod'
import { watchFile } from '@mcp-host/process'
import { readDataFile } from './read-data-file.ts'
import { ConfigError } from './settings.ts'
import type { FileFaultDeps } from './share-file-fault.ts'
import { shareFileFault } from './share-file-fault.ts'

/** The value of a path setting that disables its file. */
const NONE = 'none'

export interface DataFileOptions<T> {
  readonly path: string
  /** The default path, at which the file may be missing. */
  readonly defaultPath: string
  /** The setting that names the file. */
  readonly setting: string
  readonly schema: z.ZodType<T>
  /** The contents, for the log: `bundles`. */
  readonly what: string
}

/**
 * Reads a JSON file, and reads it again whenever it changes. While it is faulty or removed, the previous contents stay in
 * effect, and the catalog says so.
 * `onRead` gets `undefined` when there is no file, and is not called for the path `none`. Throws `ConfigError` when the
 * file is faulty at the start, or when a setting names a missing file.
 */
export function followDataFile<T>(
  { path, defaultPath, setting, schema, what }: DataFileOptions<T>,
  onRead: (contents: T | undefined) => void,
  deps: FileFaultDeps,
): AsyncDisposable {
  if (path === NONE) return { [Symbol.asyncDispose]: async () => undefined }
  const { logger } = deps
  let hasFile = false
  const read = (): T | undefined => {
    const contents = readDataFile(path, schema)
    if (contents === undefined && hasFile) {
      throw new ConfigError([`${path}: does not exist; put it back, or write {} to do without it`])
    }
    if (contents === undefined && path !== defaultPath) {
      throw new ConfigError([`${setting}: there is no file ${path}; "${NONE}" does without one`])
    }
    hasFile = contents !== undefined
    return contents
  }
  const fields = { component: 'config', action: 'read', what }
  onRead(read())
  const fault = shareFileFault(deps, { setting, path })
  const again = (): void => {
    try {
      onRead(read())
      fault.set('')
      logger.info({ ...fields, path }, `${what} read again`)
    } catch (err) {
      logger.error({ ...fields, path, err }, `the new ${what} are faulty; those before stay`)
      fault.set(err instanceof ConfigError ? err.problems.join('\n') : String(err))
    }
  }
  const watched = watchFile(path, again, (err) => {
    logger.warn(
      { ...fields, path, err },
      `changes of the ${what} are not seen; start the service anew`,
    )
  })
  return {
    async [Symbol.asyncDispose]() {
      watched[Symbol.dispose]()
      await fault[Symbol.asyncDispose]()
    },
  }
}
