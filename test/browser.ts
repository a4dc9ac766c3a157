import { accessSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Path of the Chromium of this machine; `undefined` without one. */
export const chromiumPath =
  process.env['CHROMIUM_BIN'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find(isThere)

/** Starts Chromium without a window. */
export function startBrowser(): Promise<Browser> {
  if (chromiumPath === undefined)
    throw new Error('there is no Chromium; install the package chromium')
  // Containers have no user namespaces and little shared memory.
  const args = ['--no-sandbox', '--disable-dev-shm-usage']
  return chromium.launch({ executablePath: chromiumPath, args })
}

function isThere(file: string): boolean {
  try {
    accessSync(file)
    return true
  } catch {
    return false
  }
}
