import { mkdir, writeFile } from 'node:fs/promises'
import type { Participant } from '@mcp-host/contracts'
import { ACCOUNTS } from '@mcp-host/contracts'
import { createSeed, publicKeyOf, readSeed, seedFileOf } from '../seed-file.ts'
import type { PublicKeys } from './server-config.ts'

/**
 * Returns the public keys of the credentials in a folder. Creates missing credentials, and keeps existing files. Throws
 * `invalid` for a file that cannot be read.
 */
export async function ensureCredentials(folder: string): Promise<PublicKeys> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const participants = Object.keys(ACCOUNTS) as Participant[]
  const keys = await Promise.all(
    participants.map(async (participant) => [participant, await ensureKey(folder, participant)]),
  )
  return Object.fromEntries(keys) as PublicKeys
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
