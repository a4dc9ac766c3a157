import { accessSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'

/** Path of the Chromium of this machine; `undefined` without one. */
export const chromiumPath =
  process.env['CHROMIUM_BIN'] ?? findProgram('chromium', 'chromium-browser', 'google-chrome')

/** Containers have no user namespaces and little shared memory. */
export const NO_SANDBOX = ['--no-sandbox', '--disable-dev-shm-usage']

/** Starts Chromium without a window. */
export function startBrowser(): Promise<Browser> {
  if (chromiumPath === undefined)
    throw new Error('there is no Chromium; install the package chromium')
  return chromium.launch({ executablePath: chromiumPath, args: NO_SANDBOX })
}

/** Stops all processes of a browser until disposed, as a laptop that sleeps. */
export async function freeze(browser: Browser): Promise<Disposable> {
  const devtools = await browser.newBrowserCDPSession()
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo')
  await devtools.detach()
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const { id } of processInfo) process.kill(id, name)
  }
  signal('SIGSTOP')
  return { [Symbol.dispose]: () => signal('SIGCONT') }
}

/** The path of the first program on `PATH` with one of these names. */
export function findProgram(...names: readonly string[]): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isThere)
}

function isThere(file: string): boolean {
  try {
    accessSync(file)
    return true
  } catch {
    return false
  }
}
