import type { FileFaultDeps } from '@mcp-host/service'
import { followDataFile } from '@mcp-host/service'
import type { Bundle } from '@mcp-host/mcp-endpoint'
import { BundlesFile } from './bundles-file.ts'

/** Reads the bundles, and reads them again whenever the file changes. Throws `ConfigError`. */
export function followBundles(
  path: string,
  onRead: (bundles: Readonly<Record<string, Bundle>>) => void,
  deps: FileFaultDeps,
): AsyncDisposable {
  return followDataFile(
    {
      path,
      defaultPath: 'bundles.json',
      setting: 'BUNDLES_CONFIG',
      schema: BundlesFile,
      what: 'bundles',
    },
    (file) => onRead(file?.bundles ?? {}),
    deps,
  )
}
