import type { Bus } from '@mcp-host/bus'
import {
  AccountLabel,
  bringServerLogin,
  BroughtTokens,
  describeServerLogin,
  LoginDescription,
  ServerName,
} from '@mcp-host/contracts'
import { z } from 'zod'
import { sealTokens } from '../../auth/connect/seal-tokens.ts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { describeFields } from '../../projection/describe-fields.ts'
import { needUser } from './need-user.ts'

/** Longer than another process may change a login, and an authorization server may take to answer. */
export const END_LIMIT_MS = 60_000

const Tokens = describeFields(BroughtTokens, {
  access_token: 'The token, or an API key of yours.',
  token_type: 'Bearer.',
  expires_in: 'For how many seconds it is good.',
  refresh_token: 'With it, the host replaces the token before it expires.',
  scope: 'Scopes of the token, separated by spaces.',
  client_id:
    'The client for which it was issued. Needed beside a refresh token where the configuration names none.',
})

const Description = describeFields(LoginDescription, {
  issuer: 'The authorization server.',
  authorizationEndpoint: 'Its page for logins.',
  tokenEndpoint: 'Where it issues tokens.',
  deviceAuthorizationEndpoint: 'Where a device without a browser begins (RFC 8628).',
  registrationEndpoint: 'Where a client registers itself (RFC 7591).',
  clientId: 'The client that the host was registered as beforehand.',
  scope: 'The scopes to ask for, separated by spaces.',
  resource: 'The name of the server there (RFC 8707).',
}).meta({ id: 'LoginDescription', description: 'How a program gets tokens for an MCP server.' })

/** Logins by tokens that a program of the user got by itself. */
export function addTokenRoutes(api: Api, bus: Pick<Bus, 'call'>): void {
  const tags = ['connections']

  api.get(
    '/connections/:server/authorization',
    {
      schema: {
        tags,
        operationId: 'describeConnection',
        summary: 'Find out how a program gets tokens for an MCP server by itself',
        params: z.object({ server: ServerName }),
        response: {
          200: jsonAnswer('The authorization server, and what to ask it for.', Description),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ params, envelope, principal }) => {
      needUser(principal)
      return bus.call(describeServerLogin, {}, params, { envelope, timeoutMs: END_LIMIT_MS })
    },
  )

  api.put(
    '/connections/:server/:label',
    {
      schema: {
        tags,
        operationId: 'bringConnection',
        summary: 'Log in at an MCP server by tokens of yours',
        description:
          'For programs without a browser: takes the answer of an authorization server as it is, or an API key as access_token. The tokens replace a login with this label.',
        params: z.object({ server: ServerName, label: AccountLabel }),
        body: Tokens,
        response: { 204: z.null().describe('You are logged in.'), ...faults(400, 404, 503) },
      },
    },
    async ({ params, body: tokens, envelope, principal }, reply) => {
      needUser(principal)
      const sealed = await sealTokens(bus, envelope, params, tokens)
      const options = { envelope, timeoutMs: END_LIMIT_MS }
      await bus.call(bringServerLogin, {}, { ...params, sealed }, options)
      return reply.code(204).send(null)
    },
  )
}
