import { errors } from 'oidc-provider'
import { isLoopback } from './redirect-address.ts'

/** The fields of a client's metadata that this host checks beyond the library. */
export const CHECKED_FIELDS = ['redirect_uris']

/** Checks one field of a registered client or of a client-ID metadata document. Throws `InvalidClientMetadata`. */
export function checkClientField(field: string, value: unknown): void {
  // The library checks the types of fields later.
  if (field === 'redirect_uris' && Array.isArray(value)) value.forEach(checkRedirect)
}

function checkRedirect(address: unknown): void {
  const url = typeof address === 'string' ? URL.parse(address) : null
  if (url === null) return
  if (url.protocol === 'http:' && !isLoopback(url)) {
    throw new errors.InvalidClientMetadata(
      'redirect_uris must be https, but for localhost, 127.0.0.1 and [::1]',
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new errors.InvalidClientMetadata('redirect_uris must not have a user name or password')
  }
}
