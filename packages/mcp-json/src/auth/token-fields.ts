import * as z from 'zod'

import { explained, filledText } from '../server-fields.ts'

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
