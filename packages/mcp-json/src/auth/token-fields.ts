import * as z from 'zod'

import { address, explained, filledText } from '../server-fields.ts'

/** Where an authorization server gives tokens. */
export const tokenEndpointField = explained(
  address(['https', 'http']),
  'The address at which it gives tokens, for one that publishes no metadata (RFC 8414).',
  'https://login.example.com/token',
).exactOptional()

/** What requests for tokens have in every strategy that asks an authorization server. */
export const tokenFields = {
  scope: explained(
    filledText,
    'The scopes to ask for, separated by spaces. Default: those that the server asks for.',
    'notes.read notes.write',
  ).exactOptional(),
  omitResource: explained(
    z.boolean('must be true or false'),
    'Does not name the server to the authorization server (RFC 8707), for those that refuse it.',
    true,
  ).exactOptional(),
}
