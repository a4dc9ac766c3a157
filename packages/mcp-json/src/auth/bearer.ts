import { resolve } from 'node:path'

import * as z from 'zod'

import type { BearerAuthConfig } from '@mcp-host/upstream'
import { absolutePath, explained, fields, filledText } from '../server-fields.ts'
import type { AuthEntry } from './auth-entry.ts'

const type = z.literal('bearer')
const Entry = fields({
  type,
  tokenFile: explained(
    filledText,
    'A file with the token alone, relative to this file; read again when the server refuses the token.',
    '/var/run/secrets/notes/token',
  ),
})

/** A token in a file. */
export const bearer: AuthEntry<BearerAuthConfig, typeof Entry> = {
  description: 'sends the token in a file',
  example: { type: 'bearer', tokenFile: '/var/run/secrets/notes/token' },
  entry: Entry,
  object: fields({ type, tokenFile: absolutePath } satisfies Record<
    keyof BearerAuthConfig,
    z.ZodType
  >),
  toConfig: ({ tokenFile }, folder) => ({ type: 'bearer', tokenFile: resolve(folder, tokenFile) }),
}
