import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
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
