import { createRemoteJWKSet, jwtVerify } from 'jose'
import type Provider from 'oidc-provider'
import { z } from 'zod'

const OAUTH = 'urn:ietf:params:oauth:grant-type'

/**
 * Lets an authorization server exchange assertions of another issuer about users for tokens, by RFC 8693 and RFC 7523.
 * `trusted`: that issuer, with the address of its keys.
 */
export function trustAssertions(
  provider: Provider,
  trusted: () => { readonly issuer: string; readonly jwks: string },
): void {
  const grants = { 'token-exchange': 'subject_token', 'jwt-bearer': 'assertion' } as const
  for (const [grant, field] of Object.entries(grants)) {
    const parameters = [field, 'subject_token_type', 'requested_token_type', 'audience', 'scope']
    provider.registerGrantType(
      `${OAUTH}:${grant}`,
      async (ctx) => {
        const { client } = ctx.oidc
        const params = z.record(z.string(), z.string().catch('')).parse({ ...ctx.oidc.params })
        const { issuer, jwks } = trusted()
        const keys = createRemoteJWKSet(new URL(jwks))
        const { payload } = await jwtVerify(params[field] ?? '', keys, {
          issuer,
          audience: provider.issuer,
        }).catch(() => ctx.throw(400, 'invalid_grant'))
        if (client === undefined || payload['client_id'] !== client.clientId) {
          ctx.throw(400, 'invalid_grant')
        }
        const accountId = payload.sub ?? ''
        const grantId = await new provider.Grant({ accountId, clientId: client.clientId }).save()
        const token = new provider.AccessToken({
          accountId,
          client,
          grantId,
          gty: grant,
          scope: params['scope'] ?? '',
        })
        token.aud = params['resource'] ?? ''
        const value = await token.save()
        ctx.body = { access_token: value, token_type: 'Bearer', expires_in: token.expiration }
      },
      [...parameters, 'resource'],
    )
  }
}
