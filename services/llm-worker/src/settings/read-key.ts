import { readFileSync } from 'node:fs'
import { Secret } from '@mcp-host/service'

export type Environment = Readonly<Record<string, string | undefined>>

/** A key, and the file it came from. */
export interface FoundKey {
  readonly key: Secret
  readonly file?: string
}

/**
 * The key in the environment variable of that name, or in the file that the variable with `_FILE` behind
 * its name points to.
 */
export function keyFromEnvironment(name: string, env: Environment): FoundKey | undefined {
  const value = env[name] ?? ''
  if (value !== '') return { key: new Secret(value) }
  const file = env[`${name}_FILE`] ?? ''
  return file === '' ? undefined : keyFromFile(file)
}

/** The key a file has and nothing else. Throws an error that says what is wrong with the file. */
export function keyFromFile(file: string): FoundKey {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    throw new Error(`the file of its key, ${file}, ${reason}`, { cause: error })
  }
  if (text === '') throw new Error(`the file of its key, ${file}, is empty`)
  return { key: new Secret(text), file }
}
