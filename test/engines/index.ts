import { globSync } from 'node:fs'
import { chromiumPath, findProgram, NO_SANDBOX } from '../browser.ts'
import type { EngineKind } from './engine.ts'
import { startPuppeteer } from './puppeteer.ts'
import { startWebkit } from './webkit.ts'

export type { Engine, EnginePage } from './engine.ts'

const firefox = findProgram('firefox-esr', 'firefox')
const driver = findProgram('WebKitWebDriver')
const xvfb = findProgram('Xvfb')
/** WebKit's browser for tests, which its driver has no name for. */
const [miniBrowser] = globSync('/usr/lib{,64,exec}/{,*/}webkit2gtk-4.*/MiniBrowser')

/** The engines in which the web UI works. */
export const ENGINES: readonly EngineKind[] = [
  {
    name: 'Chromium',
    missing: chromiumPath === undefined ? 'chromium' : undefined,
    start: () => startPuppeteer({ executablePath: chromiumPath!, args: NO_SANDBOX }),
  },
  {
    name: 'Firefox',
    missing: firefox === undefined ? 'firefox-esr' : undefined,
    start: () => startPuppeteer({ browser: 'firefox', executablePath: firefox! }),
  },
  {
    name: 'WebKit',
    missing:
      driver === undefined || miniBrowser === undefined
        ? 'webkit2gtk-driver'
        : xvfb === undefined
          ? 'xvfb'
          : undefined,
    start: () => startWebkit({ driver: driver!, browser: miniBrowser!, xvfb: xvfb! }),
  },
]
