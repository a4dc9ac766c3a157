import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from './run-command.mjs'

const keyrings = [
  '/usr/share/keyrings/debian-archive-keyring.pgp',
  '/usr/share/keyrings/debian-archive-keyring.gpg',
]

// The stable releases carry versions that are too old; unstable's program also runs on them.
const suite = 'unstable'

export const debianPackage = {
  name: `Debian’s package (${suite})`,

  /**
   * Downloads and unpacks the package into `folder` without touching the system: no root, and lists, cache and sources
   * of its own. Answers with the program's path.
   */
  async fetch(folder) {
    const mirror = await findMirror()
    const keyring = keyrings.find((file) => existsSync(file))
    if (!keyring) throw new Error('Debian’s archive keys are not installed')

    const sources = join(folder, 'sources.list')
    writeFileSync(sources, `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`)
    mkdirSync(join(folder, 'lists', 'partial'), { recursive: true })
    mkdirSync(join(folder, 'cache', 'archives', 'partial'), { recursive: true })
    const options = [
      `Dir::Etc::SourceList=${sources}`,
      'Dir::Etc::SourceParts=-',
      `Dir::State::Lists=${join(folder, 'lists')}`,
      `Dir::Cache=${join(folder, 'cache')}`,
      'APT::Sandbox::User=',
      'Acquire::Languages=none',
      'Acquire::Retries=1',
    ].flatMap((option) => ['-o', option])
    await runCommand('apt-get', [...options, 'update'], { cwd: folder })
    await runCommand('apt-get', [...options, 'download', 'nats-server'], { cwd: folder })

    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'))
    if (!archive) throw new Error('apt downloaded nothing')
    await runCommand('dpkg-deb', ['-x', join(folder, archive), join(folder, 'package')])
    return join(folder, 'package', 'usr', 'sbin', 'nats-server')
  },
}

/** The mirror that this machine's apt is set up with; it serves all suites. */
async function findMirror() {
  // A fresh machine has no package lists yet, so what a mirror says about itself cannot be asked for.
  const query = [
    'indextargets',
    '--no-release-info',
    '--format',
    '$(REPO_URI)',
    'Created-By: Packages',
  ]
  const mirrors = (await runCommand('apt-get', query)).split('\n')
  const mirror = mirrors.find((uri) => /\/debian\/?$/.test(uri))
  if (!mirror) throw new Error('apt has no Debian mirror')
  return mirror
}
