import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

import { variables } from './server-fields.ts'

type EnvFile =
  | { readonly kind: 'read'; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: 'faulty'; readonly message: string }

/** Reads a file of `NAME=value` lines. */
export function readEnvFile(path: string): EnvFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    // The message omits the path, which may contain the value of a variable.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    const message = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    return { kind: 'faulty', message }
  }
  const env = variables.safeParse(parseEnv(text))
  if (env.success) return { kind: 'read', env: env.data }
  return { kind: 'faulty', message: 'is a file with a name or value that no variable can have' }
}
