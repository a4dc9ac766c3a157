import { Principal } from '@mcp-host/contracts'
import { z } from 'zod'
import { Login } from './session/login-sessions.ts'

/**
 * Identifies a client's credential without its secret, so that any gateway can check later whether it is still valid.
 */
export const Credential = z.discriminatedUnion('kind', [
  /** An API key. */
  z.object({ kind: z.literal('key'), id: z.string() }),
  /** The login of a browser, by the key of its record. */
  z.object({ kind: z.literal('login'), key: z.string(), login: Login.omit({ idToken: true }) }),
  z.object({
    kind: z.literal('token'),
    issuer: z.string(),
    verified: z.object({
      principal: Principal,
      audiences: z.array(z.string()),
      expiresAt: z.number(),
      claims: z.looseObject({}),
      keyId: z.string().optional(),
    }),
  }),
])
export type Credential = z.infer<typeof Credential>
