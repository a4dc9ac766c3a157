import type { z } from 'zod'
import { watchFile } from 'mcp-host/watch-file'
import type { Logger } from './logger.ts'
import { readDataFile } from './read-data-file.ts'
import { ConfigError } from './settings.ts'

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
 * Reads a JSON file, and reads it again whenever it changes. While it is faulty, the previous contents stay in effect.
 * `onRead` gets `undefined` when there is no file, and is not called for the path `none`. Throws `ConfigError` when the
 * file is faulty at the start, or when a setting names a missing file.
 */
export function followDataFile<T>(
  { path, defaultPath, setting, schema, what }: DataFileOptions<T>,
  onRead: (contents: T | undefined) => void,
  logger: Pick<Logger, 'info' | 'error' | 'warn'>,
): Disposable {
  if (path === NONE) return { [Symbol.dispose]: () => undefined }
  const read = (): T | undefined => {
    const contents = readDataFile(path, schema)
    if (contents === undefined && path !== defaultPath) {
      throw new ConfigError([`${setting}: there is no file ${path}; "${NONE}" does without one`])
    }
    return contents
  }
  const fields = { component: 'config', action: 'read', what }
  onRead(read())
  const again = (): void => {
    try {
      onRead(read())
      logger.info({ ...fields, path }, `${what} read again`)
    } catch (err) {
      logger.error({ ...fields, path, err }, `the new ${what} are faulty; those before stay`)
    }
  }
  return watchFile(path, again, (err) => {
    logger.warn(
      { ...fields, path, err },
      `changes of the ${what} are not seen; start the service anew`,
    )
  })
}
