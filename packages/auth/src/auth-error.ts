import type { Scope } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** Error codes of RFC 6750; `missing`: no credential came with the request. */
export type AuthFault = 'missing' | 'invalid_token' | 'insufficient_scope'

/** The error for a credential that is missing, refused or not sufficient. Its message may be shown to the client. */
export class AuthError extends BusError {
  readonly fault: AuthFault
  /** The scopes that the operation needs. */
  readonly scopes: readonly Scope[]

  constructor(fault: AuthFault, message: string, scopes: readonly Scope[] = []) {
    super(fault === 'insufficient_scope' ? 'denied' : 'unauthenticated', message)
    this.fault = fault
    this.scopes = scopes
  }
}
