import type { Logger } from '@mcp-host/service'
import { ConfigError, readJsonFile, watchFile } from '@mcp-host/service'
import { BundlesFile } from './bundles-file.ts'
import type { Bundle } from './core/bundle.ts'

/** In place of a path: there is no file. */
const NONE = 'none'
const DEFAULT = 'bundles.json'

/**
 * Reads the bundles, and again whenever the file changes; while it is faulty those before stay. Throws
 * `ConfigError` when it is faulty at the start, or is not there though it was asked for.
 */
export function followBundles(
  path: string,
  onRead: (bundles: Readonly<Record<string, Bundle>>) => void,
  logger: Pick<Logger, 'info' | 'error' | 'warn'>,
): Disposable {
  if (path === NONE) return { [Symbol.dispose]: () => undefined }
  const read = (): Readonly<Record<string, Bundle>> => {
    const file = readJsonFile(path, BundlesFile)
    if (file === undefined && path !== DEFAULT) {
      const message = `BUNDLES_CONFIG: there is no file ${path}; "${NONE}" does without one`
      throw new ConfigError([message])
    }
    return file?.bundles ?? {}
  }
  const fields = { component: 'mcp', action: 'bundles' }
  onRead(read())
  const again = (): void => {
    try {
      const bundles = read()
      onRead(bundles)
      logger.info({ ...fields, bundles: Object.keys(bundles) }, 'bundles read again')
    } catch (err) {
      logger.error({ ...fields, err }, 'the new bundles are faulty; those before stay')
    }
  }
  return watchFile(path, again, (err) => {
    logger.warn({ ...fields, err }, 'changes of the bundles are not seen; start the gateway anew')
  })
}
