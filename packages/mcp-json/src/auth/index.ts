import * as z from 'zod'

import type { AuthConfig } from '@mcp-host/upstream'
import type { AuthEntry } from './auth-entry.ts'
import { bearer } from './bearer.ts'
import { clientCredentials } from './client-credentials.ts'
import { oauth } from './oauth.ts'
import { tokenExchange } from './token-exchange.ts'

const STRATEGIES: Readonly<Record<AuthConfig['type'], AuthEntry<AuthConfig, z.ZodObject>>> = {
  bearer,
  'client-credentials': clientCredentials,
  oauth,
  'token-exchange': tokenExchange,
}
const all = Object.entries(STRATEGIES)
const types = all.map(([type]) => `"${type}"`).join(' or ')
const what = all.map(([type, { description }]) => `"${type}" ${description}`).join(', ')

const field = (schemas: readonly z.ZodObject[]) =>
  z
    // Each strategy has its own `type`.
    .discriminatedUnion(
      'type',
      schemas as readonly [z.ZodObject],
      `must be an object with a "type" of ${types}`,
    )
    .exactOptional()
    .meta({
      description: `How the host gets the token that it sends to the server: ${what}.`,
      examples: all.map(([, { example }]) => example),
    })

/** The field `auth` in a file. */
export const authEntry = field(all.map(([, { entry }]) => entry))
/** The field `auth` in an object. */
export const authObject = field(all.map(([, { object }]) => object))

/** `folder` is the base of relative paths. */
export function toAuthConfig(entry: z.infer<typeof authEntry>, folder: string): AuthConfig {
  // The schema of the file has checked the type.
  const strategy = STRATEGIES[entry['type'] as AuthConfig['type']]
  return strategy.toConfig(strategy.entry.parse(entry), folder)
}
