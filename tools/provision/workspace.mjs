import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { showProgress } from './progress.mjs'
import { ProvisionError } from './provision-error.mjs'
import { runCommand } from './run-command.mjs'
import { isAtLeast } from './version.mjs'

/** Installs the workspace's dependencies, unless the last install was for the very same manifests. */
export async function provideDependencies(root, toolchain) {
  const marker = join(root, 'node_modules', '.mcp-host-installed')
  const isInstalled = () => existsSync(marker) && readFileSync(marker, 'utf8') === wanted
  const wanted = fingerprint(root)
  if (isInstalled()) return

  mkdirSync(join(root, 'node_modules'), { recursive: true })
  const install = async () => {
    if (isInstalled()) return
    await showProgress('Installing the workspace’s dependencies', () =>
      pnpmInstall(root, toolchain),
    )
    writeFileSync(marker, wanted)
  }
  const lock = join(root, 'node_modules', '.mcp-host-installing')
  await withLock(lock, install, () => {
    process.stderr.write('Waiting for another run that installs the dependencies …\n')
  })
}

/** Changes whenever an install would: with the lock file, the settings, any manifest, or Node's major version. */
export function fingerprint(root, nodeMajor = supportedMajor()) {
  const hash = createHash('sha256').update(nodeMajor)
  for (const file of installInputs(root)) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/** An older Node hands over to the provisioned one. */
function supportedMajor() {
  return isAtLeast(process.versions.node, '24') ? process.versions.node.split('.')[0] : '24'
}

function installInputs(root) {
  const members = ['packages', 'services'].flatMap((parent) => {
    const folder = join(root, parent)
    const names = existsSync(folder) ? readdirSync(folder).toSorted() : []
    return names.map((name) => `${parent}/${name}`)
  })
  const manifests = ['.', 'tools', 'bench', 'chaos', ...members].map(
    (member) => `${member}/package.json`,
  )
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]
  return files.filter((file) => existsSync(join(root, file)))
}

async function pnpmInstall(root, toolchain) {
  const env = { ...process.env, PATH: toolchain.path, CI: 'true' }
  // In production mode pnpm would leave out what the tests and checks need.
  delete env.NODE_ENV
  try {
    await runCommand('pnpm', ['install', '--frozen-lockfile'], {
      cwd: root,
      env,
      shell: process.platform === 'win32',
    })
  } catch (cause) {
    throw new ProvisionError(
      `The dependencies could not be installed.\n${cause.message}\n` +
        'Check the network. If you changed a package.json, run `npx pnpm@12 install` to bring pnpm-lock.yaml up to date.',
      { cause },
    )
  }
}
