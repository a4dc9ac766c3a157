import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { cacheFolder, installOnce, platformName } from './cache.mjs'
import { debianPackage } from './debian-package.mjs'
import { officialRelease } from './official-release.mjs'
import { showProgress } from './progress.mjs'
import { ProvisionError } from './provision-error.mjs'
import { runCommand } from './run-command.mjs'
import { findVersion, isAtLeast } from './version.mjs'

// Batched direct gets, which replay a session, came with 2.11.
const minimum = '2.11'

/** The path of a nats-server that is new enough: the user's, the machine's, or one fetched into the cache. */
export async function provideNatsServer(env = process.env) {
  if (env.NATS_SERVER_BIN) return chosenByUser(env.NATS_SERVER_BIN)

  const failures = []
  const folder = join(cacheFolder(env), `nats-server-from-${minimum}-${platformName}`)
  const cached = join(folder, 'nats-server')
  for (const candidate of [...onPath(env), cached].filter((file) => existsSync(file))) {
    try {
      await requireNewEnough(candidate)
      return candidate
    } catch (error) {
      failures.push(`${candidate}: ${error.message}`)
    }
  }
  for (const source of [officialRelease, debianPackage]) {
    try {
      await installOnce(folder, (draft) => install(source, draft))
      return cached
    } catch (error) {
      failures.push(`${source.name}: ${error.message}`)
    }
  }
  throw new ProvisionError(
    `No nats-server ${minimum} or later could be found or fetched. Tried:\n` +
      failures.map((failure) => `- ${failure}\n`.replaceAll('\n', '\n  ').trimEnd()).join('\n') +
      '\nInstall nats-server, or set NATS_SERVER_BIN to its path, or set NATS_URL to a running server.',
  )
}

async function chosenByUser(program) {
  try {
    await requireNewEnough(program)
  } catch (cause) {
    throw new ProvisionError(
      `NATS_SERVER_BIN is ${program}, which cannot be used: ${cause.message}`,
      {
        cause,
      },
    )
  }
  return program
}

function onPath(env) {
  // Debian installs it where a user's PATH does not lead.
  const folders = [...(env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/sbin']
  const name = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server'
  return [...new Set(folders)].map((folder) => join(folder, name))
}

async function requireNewEnough(program) {
  const version = findVersion(await runCommand(program, ['--version']))
  if (!version) throw new Error('it does not tell its version')
  if (!isAtLeast(version, minimum)) throw new Error(`version ${version} is older than ${minimum}`)
}

function install(source, draft) {
  return showProgress(`Fetching nats-server from ${source.name}`, async () => {
    const work = join(draft, 'work')
    mkdirSync(work)
    const program = await source.fetch(work)
    await requireNewEnough(program)
    renameSync(program, join(draft, 'nats-server'))
    rmSync(work, { recursive: true })
  })
}
