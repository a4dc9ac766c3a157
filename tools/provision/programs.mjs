import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, installOnce } from './cache.mjs'
import { withLock } from './lock.mjs'
import { showProgress } from './progress.mjs'
import { ProvisionError } from './provision-error.mjs'
import { runCommand } from './run-command.mjs'
import { sourceHash } from './source-hash.mjs'

/** Builds that were not started for so long are removed. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

/**
 * The programs of `npm start`, built once for each state of their sources: a built one takes half the memory, and starts
 * in a third of the time.
 */
export async function providePrograms(root, toolchain) {
  const builds = join(cacheFolder(), 'programs')
  const folder = join(builds, programsHash(root))
  mkdirSync(builds, { recursive: true })
  const build = (draft) =>
    showProgress('Building the services', () =>
      runCommand(toolchain.node, ['tools/build/build-host.ts', draft], { cwd: root }),
    )
  if (!existsSync(folder)) {
    await withLock(`${folder}.lock`, () => installOnce(folder, build)).catch((cause) => {
      throw new ProvisionError(`The services could not be built.\n${cause.message}`, { cause })
    })
  }
  const now = Date.now()
  utimesSync(folder, now / 1000, now / 1000)
  for (const name of readdirSync(builds)) {
    const { mtimeMs = now } = statSync(join(builds, name), { throwIfNoEntry: false }) ?? {}
    if (now - mtimeMs > KEPT_MS) rmSync(join(builds, name), { recursive: true, force: true })
  }
  return folder
}

/** Changes with what the programs are made of. */
function programsHash(root) {
  const packages = ['packages', 'services'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
  )
  const sources = packages.flatMap((each) => [`${each}/package.json`, `${each}/src`])
  return sourceHash(root, ['pnpm-lock.yaml', 'tools', ...sources], isSource)
}

function isSource(path) {
  return /\.(ts|mjs|json|yaml)$/.test(path) && !/\.test\.|^packages\/web\//.test(path)
}
