import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const preload = pathToFileURL(join(import.meta.dirname, '..', 'fixtures', 'moved-clock.ts'))

/** Settings that move the wall clock of a Node process. */
export function movedClock(offsetMs = 0): Readonly<Record<string, string>> {
  if (offsetMs === 0) return {}
  return { NODE_OPTIONS: `--import=${preload.href}`, CLOCK_OFFSET_MS: String(offsetMs) }
}
