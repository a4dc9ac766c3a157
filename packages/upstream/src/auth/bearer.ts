import { readFile, stat } from 'node:fs/promises'

import { decodeText, readFault } from '@mcp-host/json'
import type { AuthStrategy } from './auth-strategy.ts'

/** A token in a file, which another program may renew, as Kubernetes does with those of service accounts. */
export interface BearerAuthConfig {
  readonly type: 'bearer'
  /** The absolute path of a file that has the token alone. It is read again when the server refuses the token. */
  readonly tokenFile: string
}

const MAX_BYTES = 64 * 1024
/** The characters that a header may have. */
const TOKEN = /^[!-~]+$/

/** Sends the token of a file. */
export const bearer: AuthStrategy<BearerAuthConfig> = {
  open({ tokenFile }, { onToken }) {
    let token: Promise<string> | undefined
    const read = async (): Promise<string> => {
      const found = await readToken(tokenFile)
      onToken(found)
      return found
    }
    return {
      token: () => (token ??= read()),
      async onUnauthorized() {
        token = undefined
      },
    }
  },
}

async function readToken(path: string): Promise<string> {
  const found = await readText(path).catch((error: unknown) => {
    throw new Error(`the token file ${path} ${readFault(error)}`, { cause: error })
  })
  const token = found?.trim() ?? ''
  // Nothing of the content is shown.
  if (!TOKEN.test(token)) throw new Error(`the token file ${path} must have one token and no more`)
  return token
}

/** The text of a file; undefined when it is too long for a token. */
async function readText(path: string): Promise<string | undefined> {
  const { size } = await stat(path)
  return size > MAX_BYTES ? undefined : decodeText(await readFile(path))
}
