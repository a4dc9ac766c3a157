import * as z from 'zod'

import type { OAuthAuthConfig, ProgramAuthConfig } from '@mcp-host/upstream'
import {
  address,
  explained,
  fields,
  filledText,
  functionOfCode,
  optional,
} from '../server-fields.ts'
import type { AuthEntry } from './auth-entry.ts'
import { tokenEndpointField, tokenFields } from './token-fields.ts'

const isStore = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'load' in value && 'save' in value
const NO_STORE = 'must be an object with the functions "load" and "save"'
const store = z.custom<NonNullable<OAuthAuthConfig['store']>>(isStore, NO_STORE)
const registrations = z.custom<NonNullable<OAuthAuthConfig['registrations']>>(isStore, NO_STORE)

/** The parameters of a login page that the host sets. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(
  'response_type client_id redirect_uri scope resource state code_challenge code_challenge_method'.split(
    ' ',
  ),
)

const common = {
  type: z.literal('oauth'),
  issuer: explained(
    address(['https', 'http']),
    'The address of the authorization server. Needed beside "clientSecret". Default: the one that the server names.',
    'https://login.example.com',
  ).exactOptional(),
  clientId: explained(
    filledText,
    'The id of the host at the authorization server, where it was registered beforehand. Default: the host registers itself.',
    'notes-host',
  ).exactOptional(),
  clientSecret: explained(
    filledText,
    'The secret of that registration, best in a variable.',
    '${env:NOTES_SECRET}',
  ).exactOptional(),
  authorizationEndpoint: explained(
    address(['https', 'http']),
    'The address of its login page, for one that publishes no metadata (RFC 8414). Needs "issuer" and "tokenEndpoint".',
    'https://login.example.com/authorize',
  ).exactOptional(),
  tokenEndpoint: tokenEndpointField,
  ...tokenFields,
  parameters: explained(
    z
      .record(z.string(), z.string())
      .refine((given) => !Object.keys(given).some((name) => OWN_PARAMETERS.has(name)), {
        error: `must not have ${[...OWN_PARAMETERS].join(', ')}, which the host sets`,
      }),
    'Further parameters of the login page, which some authorization servers need.',
    { access_type: 'offline' },
  ).exactOptional(),
  accounts: explained(
    z.array(
      fields({
        when: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
        label: filledText,
      }),
    ),
    'Which of several logins of a user a call has, by its arguments. The first rule with the same ones counts.',
    [{ when: { owner: 'acme' }, label: 'work' }],
  ).exactOptional(),
}
const objectFields = {
  ...common,
  redirectUrl: address(['https', 'http']).exactOptional(),
  clientName: filledText.exactOptional(),
  clientMetadataUrl: address(['https', 'https']).exactOptional(),
  store: store.exactOptional(),
  registrations: registrations.exactOptional(),
  login: functionOfCode<NonNullable<OAuthAuthConfig['login']>>().exactOptional(),
}
const Entry = fields(common).superRefine(namesIssuer)

/** A login of each user. */
export const oauth: AuthEntry<OAuthAuthConfig, typeof Entry> = {
  description: 'logs each user in at the authorization server that the server names',
  example: { type: 'oauth' },
  entry: Entry,
  object: fields(objectFields satisfies Record<keyof OAuthAuthConfig, z.ZodType>).superRefine(
    namesIssuer,
  ),
  toConfig: (config) => config,
}

const programFields = {
  issuer: explained(
    address(['https', 'http']),
    'The address of the authorization server.',
    'https://login.example.com',
  ),
  variable: explained(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'),
    'The environment variable in which the program gets the token of its user.',
    'NOTES_TOKEN',
  ),
}
const example: ProgramAuthConfig = {
  type: 'oauth',
  issuer: 'https://login.example.com',
  clientId: 'notes-host',
  variable: 'NOTES_TOKEN',
}

const ofUsers =
  'Logs each user in at an authorization server, and starts a process for each with the token in a variable.'
const withExample = <Shape extends z.ZodRawShape>(shape: Shape) =>
  optional(fields(shape).superRefine(namesIssuer), ofUsers, example)

/** The field `auth` of a program. */
export const programAuth = withExample({ ...common, ...programFields })
/** The field `auth` of a program in an object. */
export const programAuthObject = withExample({
  ...objectFields,
  ...programFields,
} satisfies Record<keyof ProgramAuthConfig, z.ZodType>)

function namesIssuer(config: Partial<OAuthAuthConfig>, context: z.RefinementCtx): void {
  const { clientId, clientSecret, issuer, authorizationEndpoint, tokenEndpoint } = config
  const described = [authorizationEndpoint, tokenEndpoint].filter((each) => each !== undefined)
  if (described.length === 1 || (described.length > 0 && issuer === undefined)) {
    const all = 'must have "issuer", "authorizationEndpoint" and "tokenEndpoint" together'
    context.addIssue({ code: 'custom', message: all })
  }
  if (clientSecret === undefined || (issuer !== undefined && clientId !== undefined)) return
  const message =
    'must have "clientId" and "issuer" beside "clientSecret", which goes to that one alone'
  context.addIssue({ code: 'custom', message })
}
