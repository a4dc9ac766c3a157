import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import type { Participant } from '@mcp-host/contracts'
import { ACCOUNTS } from '@mcp-host/contracts'
import { createSeed, publicKeyOf, readSeed, seedFileOf } from '../seed-file.ts'
import type { PublicKeys } from './server-config.ts'

const participants = Object.keys(ACCOUNTS) as Participant[]

/**
 * Returns the public keys of the credentials in a folder. Creates missing credentials, and keeps existing files. Throws
 * `invalid` for a file that cannot be read.
 */
export async function ensureCredentials(folder: string): Promise<PublicKeys> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const keys = await Promise.all(
    participants.map(async (participant) => [participant, await ensureKeys(folder, participant)]),
  )
  return Object.fromEntries(keys) as PublicKeys
}

/**
 * Replaces the credentials in a folder. Those before stay good until `retireCredentials`, so that processes can be
 * replaced one after another. Those of a rotation that is under way are kept.
 */
export async function rotateCredentials(folder: string): Promise<void> {
  await ensureCredentials(folder)
  for (const participant of participants) {
    const file = seedFileOf(folder, participant)
    if ((await keyIn(retiredFile(file))) === undefined) await rename(file, retiredFile(file))
  }
}

/** Ends a rotation: the credentials before it are removed. */
export async function retireCredentials(folder: string): Promise<void> {
  for (const participant of participants) {
    await rm(retiredFile(seedFileOf(folder, participant)), { force: true })
  }
}

/** The credential that is good whether or not nats-server was reloaded since the last rotation. */
export function steadySeedFile(folder: string, participant: Participant): string {
  const file = seedFileOf(folder, participant)
  return existsSync(retiredFile(file)) ? retiredFile(file) : file
}

function retiredFile(file: string): string {
  return `${file}.old`
}

async function keyIn(file: string): Promise<string | undefined> {
  return existsSync(file) ? publicKeyOf(await readSeed(file)) : undefined
}

/** The key of a participant, and the one before it while that is good. */
async function ensureKeys(folder: string, participant: Participant): Promise<string[]> {
  const key = await ensureKey(folder, participant)
  const before = await keyIn(retiredFile(seedFileOf(folder, participant)))
  return before === undefined ? [key] : [key, before]
}

async function ensureKey(folder: string, participant: Participant): Promise<string> {
  const file = seedFileOf(folder, participant)
  const { seed, publicKey } = createSeed()
  const about = `# nats-server credential of ${participant}, account ${ACCOUNTS[participant]}. Keep it secret.`
  try {
    await writeFile(file, `${about}\n${seed}\n`, { mode: 0o600, flag: 'wx' })
    return publicKey
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    return publicKeyOf(await readSeed(file))
  }
}
