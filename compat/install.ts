import { join } from 'node:path'
import { installPackages } from '../tools/host/install-packages.ts'
import type { RealServer } from './servers.ts'

/** Installs the package of a server, once per version. Resolves with the folder of the package. */
export async function installServer({ package: name, version }: RealServer): Promise<string> {
  const folder = join('mcp-servers', `${name.replace('/', '+')}-${version}`)
  return join(await installPackages(folder, { [name]: version }), 'node_modules', name)
}
