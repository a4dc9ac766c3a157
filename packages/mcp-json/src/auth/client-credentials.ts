import { resolve } from 'node:path'

import * as z from 'zod'

import type { ClientCredentialsAuthConfig } from '@mcp-host/upstream'
import { absolutePath, address, choice, explained, fields, filledText } from '../server-fields.ts'
import type { AuthEntry } from './auth-entry.ts'
import { tokenEndpointField, tokenFields } from './token-fields.ts'

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384'] as const

const example = {
  type: 'client-credentials',
  issuer: 'https://login.example.com',
  clientId: 'notes-host',
  clientSecret: '${env:NOTES_SECRET}',
} as const

const common = {
  type: z.literal('client-credentials'),
  issuer: explained(
    address(['https', 'http']),
    'The address of the authorization server, the only one that gets the credentials.',
    example.issuer,
  ),
  clientId: explained(filledText, 'The id of the host at the authorization server.', 'notes-host'),
  clientSecret: explained(
    filledText,
    'The secret of the host, best in a variable. Either this or "privateKeyFile".',
    example.clientSecret,
  ).exactOptional(),
  algorithm: explained(
    choice(...ALGORITHMS),
    'The algorithm of the private key. Default: "RS256".',
    'ES256',
  ).exactOptional(),
  tokenEndpoint: tokenEndpointField,
  ...tokenFields,
}

const Entry = fields({
  ...common,
  privateKeyFile: explained(
    filledText,
    'A file with the private key of the host in PEM, relative to this file.',
    'notes-key.pem',
  ).exactOptional(),
}).superRefine(hasOneCredential)

/** Tokens by a login of the host itself. */
export const clientCredentials: AuthEntry<ClientCredentialsAuthConfig, typeof Entry> = {
  description: 'logs the host itself in, by a secret or a private key',
  example,
  entry: Entry,
  object: fields({ ...common, privateKeyFile: absolutePath.exactOptional() } satisfies Record<
    keyof ClientCredentialsAuthConfig,
    z.ZodType
  >).superRefine(hasOneCredential),
  toConfig: ({ privateKeyFile, ...config }, folder) =>
    privateKeyFile === undefined
      ? config
      : { ...config, privateKeyFile: resolve(folder, privateKeyFile) },
}

function hasOneCredential(
  config: Pick<ClientCredentialsAuthConfig, 'clientSecret' | 'privateKeyFile'>,
  context: z.RefinementCtx,
): void {
  if ((config.clientSecret === undefined) !== (config.privateKeyFile === undefined)) return
  const message = 'must have either "clientSecret" or "privateKeyFile"'
  context.addIssue({ code: 'custom', message })
}
