// Bundles the programs once for all end-to-end tests, which start them often: a bundled one starts in half the time.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../tools/build/bundle.ts'
import { PROGRAMS } from '../tools/build/programs.ts'

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const { env } = process
  // Another project of the same run has built them, or who runs the tests sets the folder.
  if (env['TEST_DIST'] !== undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'mcp-host-test-dist-'))
  await Promise.all(Array.from(PROGRAMS, ([name, entry]) => bundle(entry, join(folder, name))))
  env['TEST_DIST'] = folder
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
