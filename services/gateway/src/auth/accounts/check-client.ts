import { errors } from 'oidc-provider'
import { isLoopback } from './redirect-address.ts'

const MAX_REDIRECTS = 20
const MAX_NAME_LENGTH = 200
const MAX_METADATA_LENGTH = 8_192

/** The fields of a client's metadata that this host checks beyond the library. */
export const CHECKED_FIELDS = ['redirect_uris', 'client_name']

/** Checks one field of a registered client or of a client-ID metadata document. Throws `InvalidClientMetadata`. */
export function checkClientField(field: string, value: unknown, metadata: object): void {
  // The library checks the types of fields later.
  if (field === 'redirect_uris' && Array.isArray(value)) {
    if (value.length > MAX_REDIRECTS) {
      throw new errors.InvalidClientMetadata(
        `redirect_uris must have at most ${MAX_REDIRECTS} items`,
      )
    }
    value.forEach(checkRedirect)
  }
  if (field !== 'client_name') return
  if (typeof value === 'string' && value.length > MAX_NAME_LENGTH) {
    const message = `client_name must have at most ${MAX_NAME_LENGTH} characters`
    throw new errors.InvalidClientMetadata(message)
  }
  if (JSON.stringify(metadata).length > MAX_METADATA_LENGTH) {
    const message = `the metadata must have at most ${MAX_METADATA_LENGTH} characters as JSON`
    throw new errors.InvalidClientMetadata(message)
  }
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
