import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { cacheFolder, installOnce, platformName } from './cache.mjs'
import { showProgress } from './progress.mjs'
import { ProvisionError } from './provision-error.mjs'
import { runCommand } from './run-command.mjs'
import { isAtLeast } from './version.mjs'

const nodeMinimum = '24'
const node = { name: 'node', label: 'Node', version: '24.21.0' }
const pnpm = { name: 'pnpm', label: 'pnpm', version: '12.21.0' }

/** Node that runs TypeScript, and pnpm: the path of the one, and a PATH on which both come first. */
export async function provideToolchain() {
  const isNodeNewEnough = isAtLeast(process.versions.node, nodeMinimum)
  const nodePath = isNodeNewEnough
    ? process.execPath
    : join(await install(node), executable('node'))
  const bins = [dirname(nodePath), await install(pnpm)]
  return { node: nodePath, path: [...bins, process.env.PATH].join(delimiter) }
}

async function install(tool) {
  const folder = join(cacheFolder(), `${tool.name}-${tool.version}-${platformName}`)
  const label = `${tool.label} ${tool.version}`
  const fill = (draft) => showProgress(`Installing ${label}`, () => npmInstall(tool, draft))
  await installOnce(folder, fill).catch((cause) => {
    throw new ProvisionError(
      `${label} could not be installed by npm into ${folder}.\n${cause.message}\n` +
        'Check the network and npm’s settings (npm must be allowed to run the install script of this package),\n' +
        `or install Node ${node.version} or later yourself.`,
      { cause },
    )
  })
  return join(folder, 'node_modules', '.bin')
}

async function npmInstall({ name, version }, folder) {
  const manifest = {
    private: true,
    dependencies: { [name]: version },
    // It fetches its binary in an install script; npm 12 runs only those that are allowed by name.
    allowScripts: { [`${name}@${version}`]: true },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const isWindows = process.platform === 'win32'
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--prefix', '.'], {
    cwd: folder,
    shell: isWindows,
  })
  // npm ends with 0 even if it was not allowed to run an install script.
  const program = join(folder, 'node_modules', '.bin', executable(name))
  if (!existsSync(program)) throw new Error(`npm left no program ${name}`)
  await runCommand(program, ['--version'], { shell: isWindows })
}

/** The name of a program in npm's `.bin` folder. */
function executable(name) {
  return process.platform === 'win32' ? `${name}.cmd` : name
}
