import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder, installOnce } from '../provision/cache.mjs'
import { runCommand } from '../provision/run-command.mjs'

const INSTALL_LIMIT_MS = 240_000

/** Installs packages from npm into a folder of the user's cache, unless it exists. Resolves with the folder. */
export async function installPackages(
  name: string,
  dependencies: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(cacheFolder(), name)
  await installOnce(folder, async (draft) => {
    await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies }))
    // Install scripts download browsers and the like, which no test needs.
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
    await runCommand('npm', ['install', ...options], { cwd: draft, timeout: INSTALL_LIMIT_MS })
  })
  return folder
}
