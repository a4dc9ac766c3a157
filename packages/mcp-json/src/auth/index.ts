import * as z from 'zod'

import type { AuthConfig } from '@mcp-host/upstream'
import { optional } from '../server-fields.ts'
import type { AuthEntry } from './auth-entry.ts'
import { bearer } from './bearer.ts'

const STRATEGIES: Readonly<Record<AuthConfig['type'], AuthEntry<AuthConfig, z.ZodObject>>> = {
  bearer,
}
const all = Object.values(STRATEGIES)
const types = Object.keys(STRATEGIES).map((type) => `"${type}"`)
const FAULT = `must be an object with a "type" of ${types.join(' or ')}`

const field = (schemas: readonly z.ZodObject[]) =>
  optional(
    // Each strategy has its own `type`.
    z.discriminatedUnion('type', schemas as readonly [z.ZodObject], FAULT),
    'How the host gets the token that it sends to the server: "bearer" reads it from a file.',
    { type: 'bearer', tokenFile: '/var/run/secrets/notes/token' },
  )

/** The field `auth` in a file. */
export const authEntry = field(all.map(({ entry }) => entry))
/** The field `auth` in an object. */
export const authObject = field(all.map(({ object }) => object))

/** `folder` is the base of relative paths. */
export function toAuthConfig(entry: z.infer<typeof authEntry>, folder: string): AuthConfig {
  // The schema of the file has checked the type.
  const strategy = STRATEGIES[entry['type'] as AuthConfig['type']]
  return strategy.toConfig(strategy.entry.parse(entry), folder)
}
