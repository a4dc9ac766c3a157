import { AuthError } from '@mcp-host/auth'
import type { Principal } from '@mcp-host/contracts'
import { LOCAL } from '@mcp-host/contracts'
import type { IncomingMessage } from 'node:http'
import type { Authenticator } from '../../auth/authenticator.ts'
import { openDoor } from '../../auth/authenticator.ts'
import type { Credential } from '../../auth/credential.ts'

const user = (id: string, roles = ['user']): Principal => ({
  ...LOCAL,
  id,
  method: 'key',
  roles,
})

/** The principal of each kind of caller; `undefined`: its credential is refused. */
export const CALLERS = {
  nobody: undefined,
  expired: undefined,
  revoked: undefined,
  other: user('user:bob'),
  auditor: user('user:eve', ['auditor']),
  owner: user('user:ann'),
  admin: user('user:root', ['admin']),
} as const satisfies Record<string, Principal | undefined>
export type CallerName = keyof typeof CALLERS
export const STRANGERS = ['nobody', 'expired', 'revoked'] as const
export const OUTSIDERS = ['other', 'auditor'] as const
export const INSIDERS = ['owner', 'admin'] as const

export const headersOf = (caller: CallerName): Record<string, string> =>
  caller === 'nobody' ? {} : { authorization: `Bearer ${caller}` }

/** Knows each caller by its name as a bearer token. `revoked`: names of callers whose credential is refused. */
export function callersDoor(revoked: ReadonlySet<string> = new Set()): Authenticator {
  return {
    ...openDoor('http://127.0.0.1:3000'),
    isOn: true,
    authorizationServers: () => ['https://idp.example'],
    // The name of a caller is its key.
    credentialOf: ({ headers: { authorization = '' } }: Pick<IncomingMessage, 'headers'>) => ({
      kind: 'key' as const,
      id: authorization.slice('Bearer '.length),
    }),
    principalOf: (credential: Credential) =>
      credential.kind !== 'key' || revoked.has(credential.id)
        ? undefined
        : CALLERS[credential.id as CallerName],
    authenticate({ headers }: Pick<IncomingMessage, 'headers'>) {
      const { authorization = '' } = headers
      const credential = this.credentialOf({ headers })
      const principal = credential && this.principalOf(credential)
      if (principal !== undefined) return principal
      throw new AuthError(authorization === '' ? 'missing' : 'invalid_token', 'not valid')
    },
  }
}
