import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder, installOnce } from '../tools/provision/cache.mjs'
import { runCommand } from '../tools/provision/run-command.mjs'
import type { RealServer } from './servers.ts'

const INSTALL_LIMIT_MS = 240_000

/** Installs a server's package into the user's cache, once per version. Resolves with the package's folder. */
export async function installServer(server: RealServer): Promise<string> {
  const { package: name, version } = server
  const folder = join(cacheFolder(), 'mcp-servers', `${name.replace('/', '+')}-${version}`)
  await installOnce(folder, async (draft) => {
    const manifest = { private: true, dependencies: { [name]: version } }
    await writeFile(join(draft, 'package.json'), JSON.stringify(manifest))
    // Install scripts fetch browsers and the like, which listing does not need.
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
    await runCommand('npm', ['install', ...options], { cwd: draft, timeout: INSTALL_LIMIT_MS })
  })
  return join(folder, 'node_modules', name)
}
