import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import type { Participant } from '@mcp-host/contracts'
import { ACCOUNTS, BusError } from '@mcp-host/contracts'

const SEED = /^SU[A-Z2-7]{56}$/

/** Reads the seed in a file. Lines that begin with `#` are ignored. Throws `invalid` with the file's name. */
export async function readSeed(file: string): Promise<Uint8Array> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `the credential for nats-server cannot be read: ${reason}`
    throw new BusError('invalid', message, { cause: error })
  }
  const [seed, ...more] = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (seed === undefined || more.length > 0 || !SEED.test(seed)) {
    throw new BusError('invalid', `${file} is no credential for nats-server: it has no nkey seed`)
  }
  return Buffer.from(seed)
}

/** The participant whose credential a process needs. `name`: the name of its service or command. */
export function participantOf(name: string): Participant {
  return Object.hasOwn(ACCOUNTS, name) ? (name as Participant) : 'tools'
}

/** The seed file of a service, or of the operators' commands, in a folder of credentials. */
export function seedFileOf(folder: string, participant: Participant): string {
  return join(folder, `${participant}.nk`)
}

/** The path itself if it is a file; in a folder, the file of the service. */
export async function ownSeedFile(path: string, service: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true ? seedFileOf(path, participantOf(service)) : path
}

/** Creates the seed and public key of a new user of nats-server. */
export function createSeed(): { readonly seed: string; readonly publicKey: string } {
  const pair = nkeys.createUser()
  return { seed: Buffer.from(pair.getSeed()).toString(), publicKey: pair.getPublicKey() }
}

export function publicKeyOf(seed: Uint8Array): string {
  return nkeys.fromSeed(seed).getPublicKey()
}
