import type { AuthError } from './auth-error.ts'

/** Characters that a quoted string of a header cannot have. */
const UNSAFE = /[^\u0020-\u007E]|["\\]/g

/**
 * The value of `WWW-Authenticate` by RFC 6750 and RFC 9728. It names all scopes that the operation needs, since clients
 * request exactly these.
 */
export function challenge(
  { fault, message, scopes }: Pick<AuthError, 'fault' | 'message' | 'scopes'>,
  resourceMetadataUrl?: string,
): string {
  const parameters = [
    // A request without a credential gets no error code, RFC 6750 section 3.1.
    ...(fault === 'missing'
      ? []
      : [['error', fault] as const, ['error_description', message] as const]),
    ...(scopes.length === 0 ? [] : [['scope', scopes.join(' ')] as const]),
    ...(resourceMetadataUrl === undefined
      ? []
      : [['resource_metadata', resourceMetadataUrl] as const]),
  ]
  const list = parameters.map(([name, value]) => `${name}="${value.replaceAll(UNSAFE, ' ')}"`)
  return list.length === 0 ? 'Bearer' : `Bearer ${list.join(', ')}`
}
