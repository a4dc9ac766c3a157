import * as z from 'zod'

import type { TokenExchangeAuthConfig } from '@mcp-host/upstream'
import { address, choice, explained, fields, filledText, functionOfCode } from '../server-fields.ts'
import type { AuthEntry } from './auth-entry.ts'
import { tokenEndpointField, tokenFields } from './token-fields.ts'

const example = {
  type: 'token-exchange',
  issuer: 'https://login.example.com',
  clientId: 'notes-host',
  clientSecret: '${env:NOTES_SECRET}',
  listAs: 'user:ann',
} as const

const common = {
  type: z.literal('token-exchange'),
  issuer: explained(
    address(['https', 'http']),
    'The address of the authorization server, which trusts assertions of this host about its users.',
    example.issuer,
  ),
  clientId: explained(filledText, 'The id of the host at the authorization server.', 'notes-host'),
  clientSecret: explained(
    filledText,
    'The secret of the host, best in a variable.',
    example.clientSecret,
  ).exactOptional(),
  grant: explained(
    choice('token-exchange', 'jwt-bearer'),
    'How the token is asked for: by RFC 8693, the default, or by RFC 7523.',
    'jwt-bearer',
  ).exactOptional(),
  audience: explained(
    filledText,
    'The name of the server at the authorization server, where it is not its address.',
    'notes',
  ).exactOptional(),
  tokenEndpoint: tokenEndpointField,
  ...tokenFields,
  listAs: explained(
    filledText,
    'The user by whose token the tools are listed.',
    'user:ann',
  ).exactOptional(),
}
const Entry = fields(common)

/** Tokens for assertions about users. */
export const tokenExchange: AuthEntry<TokenExchangeAuthConfig, typeof Entry> = {
  description:
    'exchanges an assertion about the user at an authorization server that trusts this host',
  example,
  entry: Entry,
  object: fields({
    ...common,
    assert: functionOfCode<NonNullable<TokenExchangeAuthConfig['assert']>>().exactOptional(),
  } satisfies Record<keyof TokenExchangeAuthConfig, z.ZodType>),
  toConfig: (config) => config,
}
