import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newOperatorKey, parseApiKey } from '@mcp-host/auth'

const path = (dataDir: string): string => join(dataDir, 'operator-key')

/**
 * The API key by which commands on the same machine authenticate at the host on this data. It is created at the first
 * start, in a file that only the user of the host can read. When the file is missing, the next start creates another
 * key.
 */
export async function ensureOperatorKey(dataDir: string): Promise<string> {
  const known = readOperatorKey(dataDir)
  if (known !== undefined) return known
  const key = newOperatorKey()
  await mkdir(dataDir, { recursive: true })
  // A file that exists would keep its mode.
  await rm(path(dataDir), { force: true })
  await writeFile(path(dataDir), `${key}\n`, { mode: 0o600 })
  return key
}

/** The operator's key for this data; `undefined` when there is none that this user can read. */
export function readOperatorKey(dataDir: string): string | undefined {
  try {
    const key = readFileSync(path(dataDir), 'utf8').trim()
    return parseApiKey(key) === undefined ? undefined : key
  } catch {
    return undefined
  }
}

/**
 * The key that seals the tokens of users at MCP servers. It is created at the first start, in a file that only the user
 * of the host can read. Without it, the users have to log in at the servers again.
 */
export async function ensureTokenKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'token-key')
  await mkdir(dataDir, { recursive: true })
  try {
    const key = randomBytes(32).toString('base64')
    await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
    return key
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error
    const key = (await readFile(file, 'utf8')).trim()
    if (key !== '') return key
    throw new Error(`${file} is empty: delete it to get a new key`, { cause: error })
  }
}
