import { OPERATOR_KEY } from '@mcp-host/auth'
import { Scope } from '@mcp-host/contracts'
import { authMethods, publicUrlSetting, setting, values } from '@mcp-host/service'
import { z } from 'zod'

/** Settings for the authentication of clients. */
export const authSettings = {
  auth: authMethods,
  publicUrl: publicUrlSetting,
  operatorKey: setting({
    env: 'OPERATOR_KEY',
    schema: z.string().regex(OPERATOR_KEY, 'must be id:digest of an API key').optional(),
    describe:
      'Id and SHA-256 of the secret of an API key of an admin, as id:digest, by which commands on the machine of the host authenticate. `npm start` sets it.',
  }),
  oidcIssuer: setting({
    env: 'OIDC_ISSUER',
    schema: values.url.optional(),
    describe:
      'Identity provider whose access tokens are accepted, exactly as its tokens name it. With OIDC_CLIENT_ID browsers log in there.',
  }),
  oidcClientId: setting({
    env: 'OIDC_CLIENT_ID',
    schema: values.text.optional(),
    describe:
      'Client id of this host at OIDC_ISSUER, by which browsers log in there. Its redirect address is PUBLIC_URL/auth/callback.',
  }),
  oidcClientSecret: setting({
    env: 'OIDC_CLIENT_SECRET',
    schema: values.secret.optional(),
    describe: 'Secret of OIDC_CLIENT_ID.',
    isSecret: true,
  }),
  oidcClientSecretFile: setting({
    env: 'OIDC_CLIENT_SECRET_FILE',
    schema: values.text.optional(),
    describe: 'File with that secret, instead.',
  }),
  oidcScopes: setting({
    env: 'OIDC_SCOPES',
    schema: z
      .string()
      .transform((text) => text.split(/[\s,]+/).filter((scope) => scope !== ''))
      .refine((scopes) => scopes.includes('openid'), 'must have openid'),
    default: 'openid profile',
    describe: 'Scopes that are asked for when a browser logs in at OIDC_ISSUER.',
  }),
  oidcAudience: setting({
    env: 'OIDC_AUDIENCE',
    schema: values.list,
    default: '',
    describe:
      'Audiences of tokens that are accepted besides PUBLIC_URL and PUBLIC_URL/mcp, by commas.',
  }),
  oidcRolesClaim: setting({
    env: 'OIDC_ROLES_CLAIM',
    schema: values.text,
    default: 'roles',
    describe:
      'Claim with the roles of a user: its name, as https://example.com/roles, or the path to a nested one, as realm_access.roles.',
  }),
  oidcUserClaim: setting({
    env: 'OIDC_USER_CLAIM',
    schema: values.text,
    default: 'sub',
    describe: 'Claim that identifies a user for good.',
  }),
  oidcTokenType: setting({
    env: 'OIDC_TOKEN_TYPE',
    schema: values.text.optional(),
    describe:
      'Header `typ` that access tokens must have, as at+jwt; id tokens are then refused. Default: any.',
  }),
  clientDocumentHosts: setting({
    env: 'CLIENT_DOCUMENT_HOSTS',
    schema: values.list,
    default: '',
    describe:
      'Host names of the internal network from which metadata documents of MCP clients may be fetched with AUTH=local, by commas. Default: public addresses alone.',
  }),
  oidcDefaultScopes: setting({
    env: 'OIDC_DEFAULT_SCOPES',
    schema: values.list.pipe(z.array(Scope)),
    default: 'mcp,chat',
    describe:
      'Scopes of bearer tokens of OIDC_ISSUER that name no scope of this host, by commas: mcp, chat, decide, audit, admin.',
  }),
  defaultRoles: setting({
    env: 'DEFAULT_ROLES',
    schema: values.list,
    default: 'user',
    describe: 'Roles of users whose token names none, by commas.',
  }),
}
