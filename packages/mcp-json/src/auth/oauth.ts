import * as z from 'zod'

import type { OAuthAuthConfig } from '@mcp-host/upstream'
import { address, fields, filledText } from '../server-fields.ts'
import type { AuthEntry } from './auth-entry.ts'

const login = z.custom<OAuthAuthConfig['login']>(
  (value) => typeof value === 'function',
  'must be a function, which only the code of an application can give',
)
const store = z.custom<OAuthAuthConfig['store']>(
  (value) => typeof value === 'object' && value !== null && 'load' in value && 'save' in value,
  'must be an object with the functions "load" and "save"',
)
const Entry = fields({
  type: z.literal('oauth'),
  redirectUrl: address(['https', 'http']),
  clientName: filledText.exactOptional(),
  issuer: address(['https', 'http']).exactOptional(),
  clientId: filledText.exactOptional(),
  clientSecret: filledText.exactOptional(),
  clientMetadataUrl: address(['https', 'https']).exactOptional(),
  scope: filledText.exactOptional(),
  omitResource: z.boolean('must be true or false').exactOptional(),
  store,
  login,
} satisfies Record<keyof OAuthAuthConfig, z.ZodType>).superRefine(
  ({ clientSecret, issuer }, context) => {
    if (clientSecret === undefined || issuer !== undefined) return
    const message = 'must have an "issuer" beside "clientSecret", which goes to that one alone'
    context.addIssue({ code: 'custom', message })
  },
)

/** A login of a user, by the code of an application. */
export const oauth: AuthEntry<OAuthAuthConfig, typeof Entry> = {
  description: 'logs a user in',
  isCode: true,
  example: {
    type: 'oauth',
    redirectUrl: 'http://localhost:8123/back',
    store: { load: async () => undefined, save: async () => undefined },
    login: async (url) => url,
  },
  entry: Entry,
  object: Entry,
  toConfig: (config) => config,
}
