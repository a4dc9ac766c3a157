import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

import { decodeText, readFault } from '@mcp-host/json'
import { variables } from '../server-fields.ts'

type EnvFile =
  | { readonly kind: 'read'; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: 'faulty'; readonly message: string }

/** Reads a file of `NAME=value` lines. */
export function readEnvFile(path: string): EnvFile {
  let text: string
  try {
    text = decodeText(readFileSync(path))
  } catch (error) {
    return { kind: 'faulty', message: readFault(error) }
  }
  const env = variables.safeParse(parseEnv(text))
  if (env.success) return { kind: 'read', env: env.data }
  return { kind: 'faulty', message: 'is a file with a name or value that no variable can have' }
}
