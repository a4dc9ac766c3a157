import { SCOPES } from '@mcp-host/contracts'
import { isTooDeep, TOO_DEEP } from '@mcp-host/json'
import { errors } from 'oidc-provider'
import { STEERING } from '../auth-routes.ts'
import { isLoopback } from './redirect-address.ts'

const MAX_REDIRECTS = 20
const MAX_NAME_LENGTH = 200
const MAX_METADATA_LENGTH = 8_192

/**
 * Schemes of browsers and systems, which open a page or program that is not the client. Native clients may have any
 * other, such as `cursor:`: few use a reverse domain name (RFC 8252, 7.1).
 */
const FOREIGN_SCHEMES = new Set(
  (
    'about acap admin afp app-settings apps bitcoin blob brave callto cid content coap coaps data dav davs dict dns edge ' +
    'facetime facetime-audio fax feed file filesystem finger ftp ftps geo git git+ssh gopher hcp help help-viewer hcs im ' +
    'imap imaps intent ipp ipps irc ircs itms itms-apps itms-appss itms-services jar javascript jdbc jnlp ldap ldaps ' +
    'livescript macappstore magnet mailto maps market mid mms mocha moz-extension moz-icon msteams news nfs nntp ' +
    'onenote openssh opera outlook package pop prefs pres res resource rlogin rsync rtsp search search-ms sftp shell ' +
    'shortcuts sip sips skype sms smsto smb snmp spotlight sshfs ssh steam svn svn+ssh tel telnet tftp tn3270 ' +
    'urn vbs vbscript view-source vivaldi vnc wais webcal webdav webkit wpad ws wss wyciwyg x-apple x-help-action ' +
    'x-help-script x-man-page xmpp'
  ).split(' '),
)
const FOREIGN_PREFIXES = /^(chrome|ms-|microsoft|moz-|safari-|applescript|x-apple|android-)/

/** The fields of a client's metadata that this host checks beyond the library. */
export const CHECKED_FIELDS = ['redirect_uris', 'client_name', 'scope']

/** The values of lists that this host supports. */
const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
}

/** The scopes that clients may register and request. */
export const CLIENT_SCOPES: readonly string[] = ['openid', 'offline_access', ...SCOPES]

interface Metadata {
  [field: string]: unknown
}

/**
 * Checks one field of a registered client or of a client-ID metadata document. Throws `InvalidClientMetadata`. With
 * the first field, all of the metadata is tidied. Unknown scopes are removed: clients register those of other hosts, too.
 */
export function checkClientField(field: string, value: unknown, metadata: Metadata): void {
  if (field === CHECKED_FIELDS[0]) {
    // All other checks of values, also those of the library, may be recursive.
    if (isTooDeep(metadata)) throw new errors.InvalidClientMetadata(`the metadata is ${TOO_DEEP}`)
    tidy(metadata)
  }
  if (field === 'scope' && typeof value === 'string') {
    const known = value.split(' ').filter((scope) => CLIENT_SCOPES.includes(scope))
    // The library refuses an empty one.
    if (known.length === 0) delete metadata.scope
    else metadata.scope = known.join(' ')
  }
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
  if (typeof value === 'string' && STEERING.test(value)) {
    throw new errors.InvalidClientMetadata('client_name must not have control characters')
  }
  if (JSON.stringify(metadata).length > MAX_METADATA_LENGTH) {
    const message = `the metadata must have at most ${MAX_METADATA_LENGTH} characters as JSON`
    throw new errors.InvalidClientMetadata(message)
  }
}

/**
 * Removes what clients write for a field that they do not have, and what this host does not support beside what it does:
 * a client learns from the answer what it has got.
 */
function tidy(metadata: Metadata): void {
  for (const [field, value] of Object.entries(metadata)) {
    const supported = SUPPORTED[field]
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
      delete metadata[field]
    } else if (supported !== undefined && Array.isArray(value)) {
      const known = supported.filter((each) => value.includes(each))
      if (known.length > 0) metadata[field] = known
    }
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
  const scheme = url.protocol.slice(0, -1)
  if (FOREIGN_SCHEMES.has(scheme) || FOREIGN_PREFIXES.test(scheme)) {
    throw new errors.InvalidClientMetadata(
      `redirect_uris must not use the scheme ${url.protocol} of browsers or systems but https, http on this computer, ` +
        'or a scheme of the client, such as com.example.app:/callback',
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new errors.InvalidClientMetadata('redirect_uris must not have a user name or password')
  }
}
