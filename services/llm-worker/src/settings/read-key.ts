import { readFileSync } from 'node:fs'
import { ownValue } from '@mcp-host/contracts'
import { decodeText, readFault } from '@mcp-host/json'
import { Secret } from '@mcp-host/service'

export type Environment = Readonly<Record<string, string | undefined>>

/** The error for a key that is set but unusable. */
export class KeyError extends Error {
  override readonly name = 'KeyError'

  constructor(message: string, options?: ErrorOptions) {
    super(`has a faulty key: ${message}`, options)
  }
}

/** A key, and the file that it was read from. */
export interface FoundKey {
  readonly key: Secret
  readonly file?: string
}

/** The key in the named environment variable, or in the file that the variable with the suffix `_FILE` names. */
export function keyFromEnvironment(name: string, env: Environment): FoundKey | undefined {
  const value = (ownValue(env, name) ?? '').trim()
  if (value !== '') return { key: checked(value, name) }
  const file = ownValue(env, `${name}_FILE`) ?? ''
  return file === '' ? undefined : keyFromFile(file)
}

/** Reads the key from a file that has nothing else in it. Throws `KeyError`. */
export function keyFromFile(file: string): FoundKey {
  let text: string
  try {
    text = decodeText(readFileSync(file)).trim()
  } catch (error) {
    throw new KeyError(`the file ${file} ${readFault(error)}`, { cause: error })
  }
  if (text === '') throw new KeyError(`the file ${file} is empty`)
  return { key: checked(text, `the file ${file}`), file }
}

/** Refuses characters that cannot be sent in a header, without showing the key. */
function checked(key: string, where: string): Secret {
  if (/^[\x21-\x7E]+$/.test(key)) return new Secret(key)
  throw new KeyError(`${where} has characters that no key can have`)
}
